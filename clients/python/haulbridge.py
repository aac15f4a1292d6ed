"""The hand-written layer around the generated clients of this folder: errors, retries, timeouts and exact numbers.

Copy this file with the client of your interface. It needs Python 3.9 or newer and httpx, as they do.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import random
import time
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union

import httpx

DEFAULT_TIMEOUT = 30.0
"""Seconds to connect, to send, and to wait for the answer. `timeout` of the client or of a call replaces it."""

DEFAULT_RETRIES = 3
"""Repetitions of a call with `retry=True`."""

MAX_WAIT = 300.0
"""The longest wait before a repetition, in seconds. A longer `Retry-After` ends the call with its error."""

MAX_BACKOFF = 30.0

Number = Union[int, float, Decimal]
"""A number of a request. A `Decimal` is sent digit by digit."""

Retry = Union[bool, int, Dict[str, Any], None]
"""`True`, a number of repetitions, or a dict with `retries`, `retry_delay` (seconds before the first) and `max_wait`."""

# Answers after which the guide says "send the same request again". 502 and 504 come from a gateway: the result is unknown.
_REPEATABLE = frozenset({408, 429, 500, 502, 503, 504})
# A request that cannot be sent at all fails again in the same way.
_FINAL_ERRORS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.TooManyRedirects)
_KEY_HEADER = "Idempotency-Key"
_HTTPX_DEFAULT = httpx.Timeout(5.0)
_PHASES: Dict[Any, Any] = {
    httpx.ConnectTimeout: ("connect", "no connection"),
    httpx.WriteTimeout: ("write", "the request was not taken"),
    httpx.PoolTimeout: ("pool", "no free connection"),
}

_log = logging.getLogger("haulbridge")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Violation:
    """One fault of the request: the field, the rule, and a sentence that says what to do."""

    path: str
    rule: str
    message: str


class CallError(Exception):
    """A call that has failed, after its last repetition."""

    attempts: int = 1
    idempotency_key: Optional[str] = None
    """The key of the call: pass it to repeat the same request later without a second effect."""


class ApiError(CallError):
    """An answer that is no success. `str()` of it has all that a log line or a request for help needs."""

    def __init__(
        self,
        url: str,
        status: int,
        status_text: str,
        body: Any,
        headers: Optional[httpx.Headers] = None,
        operation_id: str = "the call",
        text: str = "",
    ) -> None:
        super().__init__(url, status, status_text, body, headers, operation_id, text)
        self.url = url
        self.status = status
        self.status_text = status_text
        self.body = body
        self.headers = httpx.Headers() if headers is None else headers
        self.operation_id = operation_id
        self.text = text
        error = _member(body, "error")
        self.code: Optional[str] = error.get("code")
        self.message: Optional[str] = error.get("message")
        self.details: Dict[str, Any] = _member(error, "details")
        self.reason: Optional[str] = self.details.get("reason")
        self.help: Optional[str] = self.details.get("help")
        self.violations: List[Violation] = _violations(self.details.get("violations"))
        self.request_id: Optional[str] = self.headers.get("X-Request-Id") or self.details.get("requestId")

    @property
    def retry_after(self) -> Optional[float]:
        """Seconds until a repetition can succeed, of the header `Retry-After`."""
        return _seconds(self.headers.get("Retry-After"))

    def __str__(self) -> str:
        what = " ".join(part for part in (str(self.status), self.code or self.status_text, self.reason) if part)
        lines = [f"{self.operation_id}: {what}"]
        if self.violations:
            lines += [f"  {each.path or 'body'}: {each.message} ({each.rule})" for each in self.violations]
        elif self.message:
            lines.append(f"  {self.message}")
        else:
            kind = self.headers.get("Content-Type", "no content type")
            lines.append(f"  the answer is not that of the interface ({kind}): {self.text[:200]!r}")
        if self.headers.get("Location"):
            lines.append(f"  it redirects to {self.headers['Location']}: use the final address")
        if self.retry_after is not None:
            lines.append(f"  retry after {self.retry_after:g} s")
        if self.help:
            lines.append(f"  help: {self.help}")
        lines.append(f"  request id: {self.request_id or 'none'}")
        return "\n".join(lines)


class ApiTimeoutError(CallError):
    """No whole answer within `timeout` seconds. The result is unknown: repeat the request with the same key."""

    def __init__(self, operation_id: str, timeout: float, attempt: int, what: str = "no whole answer") -> None:
        super().__init__(operation_id, timeout, attempt, what)
        self.operation_id = operation_id
        self.timeout = timeout
        self.attempts = attempt
        self.what = what

    def __str__(self) -> str:
        return f"{self.operation_id}: {self.what} within {self.timeout:g} s (attempt {self.attempts})"


class ApiConnectionError(CallError):
    """The connection failed, or ended before the whole answer. `__cause__` is the error of httpx."""

    def __init__(self, operation_id: str, url: str, reason: str, attempt: int) -> None:
        super().__init__(operation_id, url, reason, attempt)
        self.operation_id = operation_id
        self.url = url
        self.reason = reason
        self.attempts = attempt

    def __str__(self) -> str:
        return f"{self.operation_id}: no answer from {self.url}: {self.reason} (attempt {self.attempts})"


def around(send: F) -> F:
    """Wraps the request core of a generated client."""

    @functools.wraps(send)
    def call(client: Any, config: Dict[str, Any], op: Dict[str, Any], url: str, **words: Any) -> httpx.Response:
        plan = _Call(client, config, op, url, words)
        while True:
            try:
                response: httpx.Response = send(client, plan.config, op, url, **plan.words)
            except (ApiTimeoutError, httpx.RequestError) as error:
                time.sleep(plan.after_error(error))
                continue
            wait = plan.after(response)
            if wait is None:
                return response
            time.sleep(wait)

    return call  # type: ignore[return-value]


def around_async(send: F) -> F:
    """Wraps the request core of a generated `AsyncClient`."""

    @functools.wraps(send)
    async def call(client: Any, config: Dict[str, Any], op: Dict[str, Any], url: str, **words: Any) -> httpx.Response:
        plan = _Call(client, config, op, url, words)
        while True:
            try:
                response: httpx.Response = await send(client, plan.config, op, url, **plan.words)
            except (ApiTimeoutError, httpx.RequestError) as error:
                await asyncio.sleep(plan.after_error(error))
                continue
            wait = plan.after(response)
            if wait is None:
                return response
            await asyncio.sleep(wait)

    return call  # type: ignore[return-value]


class _Limits(httpx.Timeout):
    """The generated core reads a time limit as a number."""

    def __float__(self) -> float:
        return float(self.read or 0)


class _Call:
    """One call with its repetitions: each sends the same bytes and the same key."""

    def __init__(
        self, client: Any, config: Dict[str, Any], op: Dict[str, Any], url: str, words: Dict[str, Any]
    ) -> None:
        self.operation_id = op.get("id", "the call")
        self.url = url
        self.attempt = 1
        retry = _options(words.get("retry") if words.get("retry") is not None else config.get("retry"))
        self.retries = retry["retries"]
        self.delay = float(retry["retry_delay"])
        self.max_wait = float(retry["max_wait"])
        headers = {**(config.get("headers") or {}), **(words.get("headers") or {})}
        method = words["method"].upper()
        given = words.get("idempotency_key")
        self.key = _key(given if given is not None else config.get("idempotency_key"), method, headers, self.retries)
        self.can_repeat = method == "GET" or self.key is not None
        timeout = words.get("timeout") if words.get("timeout") is not None else config.get("timeout")
        # The time limit of an own `http_client` counts, unless it is the default of httpx.
        if timeout is None and client.timeout == _HTTPX_DEFAULT:
            timeout = DEFAULT_TIMEOUT
        if timeout is not None:
            timeout = _Limits(timeout)
        self.limits = client.timeout if timeout is None else timeout
        self.config = {**config, "headers": {}, "retry": {}, "idempotency_key": None, "timeout": None}
        self.words = {**words, "headers": headers, "retry": None, "idempotency_key": self.key, "timeout": timeout}
        if words.get("json_body") is not None:
            self.words.update(content=to_json(words["json_body"]).encode(), content_type="application/json")

    def after(self, response: httpx.Response) -> Optional[float]:
        """The seconds until the next attempt; `None` if the call has succeeded."""
        body = _json_of(response)
        if response.is_success and (body is not None or response.status_code == 204):
            return None
        error = ApiError(
            self.url,
            response.status_code,
            response.reason_phrase,
            body,
            response.headers,
            self.operation_id,
            response.text,
        )
        is_temporary = response.is_success or response.status_code in _REPEATABLE
        return self._next(error, is_temporary, error.retry_after)

    def after_error(self, error: Exception) -> float:
        """The seconds until the next attempt after no answer."""
        if isinstance(error, ApiTimeoutError):
            phase, what = _PHASES.get(type(error.__context__), ("read", "no whole answer"))
            limit = getattr(self.limits, phase)
            failure: CallError = ApiTimeoutError(self.operation_id, limit, self.attempt, what)
        else:
            reason = str(error) or type(error).__name__
            failure = ApiConnectionError(self.operation_id, self.url, reason, self.attempt)
            failure.__cause__ = error
        return self._next(failure, not isinstance(error, _FINAL_ERRORS), None)

    def _next(self, failure: CallError, is_temporary: bool, retry_after: Optional[float]) -> float:
        failure.attempts = self.attempt
        failure.idempotency_key = self.key
        wait: float = min(MAX_BACKOFF, self.delay * 2.0 ** (self.attempt - 1)) * random.uniform(0.5, 1)
        if retry_after is not None:
            wait = retry_after
        if not is_temporary or not self.can_repeat or self.attempt > self.retries or wait > self.max_wait:
            raise failure from failure.__cause__
        _log.info("%s; attempt %d follows in %.1f s", failure, self.attempt + 1, wait)
        self.attempt += 1
        return wait


def _options(retry: Retry) -> Dict[str, Any]:
    options: Dict[str, Any] = {"retries": 0, "retry_delay": 1.0, "max_wait": MAX_WAIT}
    if isinstance(retry, bool):
        options["retries"] = DEFAULT_RETRIES if retry else 0
    elif isinstance(retry, int):
        options["retries"] = retry
    elif retry:
        unknown = sorted(set(retry) - set(options))
        if unknown:
            raise TypeError(f"retry has no {', '.join(unknown)}: it knows {', '.join(options)}")
        options.update({"retries": DEFAULT_RETRIES, **retry})
    return options


def _key(given: Any, method: str, headers: Dict[str, str], retries: int) -> Optional[str]:
    """The idempotency key of the call: the caller's own, or a new one if the call may be repeated."""
    own = next((value for name, value in headers.items() if name.lower() == _KEY_HEADER.lower()), None)
    if own is not None or method != "POST" or given is False:
        return own
    key: Optional[str]
    if isinstance(given, str):
        key = given
    elif callable(given):
        key = str(given())
    else:
        key = str(uuid.uuid4()) if given or retries > 0 else None
    if key is not None:
        headers[_KEY_HEADER] = key
    return key


def to_json(value: Any, path: str = "") -> str:
    """JSON text. Numbers keep their digits: `Decimal("12.480")` is sent as `12.480`."""
    if isinstance(value, dict):
        members = (f"{json.dumps(str(name))}:{to_json(each, f'{path}.{name}'.lstrip('.'))}" for name, each in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(to_json(each, f"{path}[{index}]") for index, each in enumerate(value)) + "]"
    if isinstance(value, Decimal) and value.is_finite():
        return str(value)
    if isinstance(value, uuid.UUID):
        return json.dumps(str(value))
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError(f"{path or 'body'}: {value!r} is not a JSON value") from None


def _seconds(retry_after: Optional[str]) -> Optional[float]:
    """`Retry-After` in seconds: a number, or a date (RFC 9110)."""
    if retry_after is None:
        return None
    if retry_after.strip().isdigit():
        return float(retry_after)
    try:
        date = parsedate_to_datetime(retry_after)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())


def _member(value: Any, name: str) -> Dict[str, Any]:
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, dict) else {}


def _violations(listed: Any) -> List[Violation]:
    each = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [Violation(*(str(item.get(name, "")) for name in ("path", "rule", "message"))) for item in each]


def _json_of(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return None
