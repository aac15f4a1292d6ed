"""Client of the Scale, Account, Site and Vision interfaces: one file to copy, for Python 3.9 or newer. It needs nothing else.

    client = Client("https://platform.example", key)
    answer = client.create_ticket(ticket)

It sends a failed request again where that is safe, always with the same body and `Idempotency-Key`. `docs/openapi` has the
bounds of all fields. A field is `unit_of_measure` here and `unitOfMeasure` on the wire.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import random
import re
import time
import typing
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timezone
from decimal import Decimal
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Generic, List, Optional, Type, TypeVar, Union

TIMEOUT = 30.0
"""Seconds to connect, to send, and to wait for the next bytes. `timeout` of the client or of a call replaces it."""

RETRIES = 3
"""How often a failed call is sent again. `retries` of the client or of a call replaces it; 0 is never."""

MAX_WAIT = 300.0
"""The longest wait before another attempt, in seconds. A longer `Retry-After` ends the call with its error."""

MAX_BACKOFF = 30.0

Number = Union[int, float, Decimal]
"""A number of a request. A `Decimal` is sent digit by digit."""

# Answers after which the same request can be sent again with its key. 502 and 504 come from a gateway: the result is unknown.
_REPEATABLE = frozenset({408, 429, 500, 502, 503, 504})
# Answers after which nothing was done.
_NOTHING_DONE = frozenset({408, 429, 503})
_KEY = "Idempotency-Key"

_log = logging.getLogger("haulbridge")

T = TypeVar("T")


@dataclass
class MaterialItem:
    id: str
    name: str
    quantity: Number
    unit_of_measure: str
    unit_price_cents: Optional[Number] = None


@dataclass
class FlowData:
    ticket_number: str
    updated_at: str


@dataclass
class CreateScaleTicketRequest:
    site_id: str
    materials: List[MaterialItem]
    inbound_flow: Optional[FlowData] = None
    outbound_flow: Optional[FlowData] = None
    custom_fields: Optional[Dict[str, str]] = None


@dataclass
class CreateScaleTicketResponse:
    success: bool
    disposal_ticket_id: str


@dataclass
class BillingAddress:
    street: Optional[str] = None
    unit: Optional[str] = None
    city: Optional[str] = None
    state: Optional[str] = None
    country: Optional[str] = None
    zip: Optional[str] = None


@dataclass
class PrimaryContact:
    first_name: Optional[str] = None
    last_name: Optional[str] = None
    email: Optional[str] = None
    phone: Optional[str] = None


@dataclass
class CreateAccountRequest:
    account_name: str
    billing_address: Optional[BillingAddress] = None
    primary_contact: Optional[PrimaryContact] = None


@dataclass
class StoredBillingAddress(BillingAddress):
    address_id: str = ""


@dataclass
class StoredPrimaryContact(PrimaryContact):
    contact_id: str = ""


@dataclass
class CreateAccountResponse:
    account_id: str
    account_number: str
    account_name: str
    billing_address: Optional[StoredBillingAddress] = None
    primary_contact: Optional[StoredPrimaryContact] = None


@dataclass
class Address:
    line1: str
    city: str
    state: str
    country: str
    zip_code: str


@dataclass
class Site:
    id: str
    name: str
    address: Optional[Address] = None
    active: Optional[bool] = None
    updated_at: Optional[str] = None


@dataclass
class Kiosk:
    id: str
    site_id: str
    name: str
    active: Optional[bool] = None
    updated_at: Optional[str] = None


@dataclass
class Material:
    id: str
    material_type: str
    measure_unit: str
    site_id: Optional[str] = None
    kiosk_id: Optional[str] = None
    active: Optional[bool] = None
    updated_at: Optional[str] = None


@dataclass
class SiteData:
    """A list that is `None` says nothing about its records."""

    sites: Optional[List[Site]] = None
    kiosks: Optional[List[Kiosk]] = None
    materials: Optional[List[Material]] = None


@dataclass
class GetSitesResponse:
    success: bool
    data: SiteData


@dataclass
class CreateVideoRequest:
    customer_id: str
    truck_id: str
    camera_id: str
    start_time: str
    end_time: str


@dataclass
class CreateVideoResponse:
    success: bool
    request_id: str
    status: str
    message: Optional[str] = None


@dataclass
class Recording:
    id: str
    customer_id: str
    truck_id: str
    camera_id: str
    start_time: str
    end_time: str
    duration_seconds: int
    download_url: str
    expires_at: Optional[str] = None


@dataclass
class ClipGap:
    start_time: str
    end_time: str


@dataclass
class Video(Recording):
    """A clip. `gaps` are the parts of its range without footage."""

    request_id: Optional[str] = None
    gaps: Optional[List[ClipGap]] = None


@dataclass
class Pagination:
    page: Optional[int] = None
    page_size: Optional[int] = None
    total_items: Optional[int] = None
    total_pages: Optional[int] = None


@dataclass
class VideoRequestState:
    request_id: str
    status: str
    message: Optional[str] = None


@dataclass
class VideoList:
    videos: List[Video]
    pagination: Pagination
    request: Optional[VideoRequestState] = None


@dataclass
class ListVideosResponse:
    success: bool
    data: VideoList


@dataclass
class RecordingList:
    recordings: Optional[List[Recording]] = None
    pagination: Optional[Pagination] = None


@dataclass
class ContinuousResponse:
    success: bool
    data: RecordingList


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What came back. `body` is `None` after a 304. The names of headers have any case."""

    status: int
    headers: Message
    body: T


@dataclass(frozen=True)
class Violation:
    """One fault of the request: the field, the rule, and a sentence that says what to do."""

    path: str
    rule: str
    message: str


class CallError(Exception):
    """A call that has failed, after its last attempt."""

    attempts: int = 1
    idempotency_key: Optional[str] = None
    """Pass it to send the same request again later, within 24 hours, without a second effect."""


class ApiConnectionError(CallError):
    """No whole answer: a lost or refused connection, or the time limit. The result is unknown. `__cause__` says why."""


class ApiTimeoutError(ApiConnectionError):
    """Nothing came for `timeout` seconds."""


class ApiError(CallError):
    """An answer that is no success. `str()` of it has all that a log line or a request for help needs."""

    def __init__(self, operation: str, status: int, headers: Message, body: Any, text: str) -> None:
        super().__init__(operation, status)
        self.operation = operation
        self.status = status
        self.headers = headers
        self.body = body
        self.text = text
        error = _member(body, "error")
        self.code: Optional[str] = error.get("code")
        self.message: Optional[str] = error.get("message")
        self.details: Dict[str, Any] = _member(error, "details")
        self.reason: Optional[str] = self.details.get("reason")
        self.help: Optional[str] = self.details.get("help")
        self.violations = _violations(self.details.get("violations"))
        self.request_id: Optional[str] = headers.get("X-Request-Id") or self.details.get("requestId")
        self.retry_after = _seconds(headers.get("Retry-After"))

    def __str__(self) -> str:
        what = " ".join(part for part in (str(self.status), self.code, self.reason) if part)
        lines = [f"{self.operation}: {what}"]
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


class Client:
    """A client of one service with one key. A key may open several interfaces.

    Each operation takes `retries`, `timeout` and `headers` of its own; those of the platform also take `idempotency_key`.
    """

    def __init__(self, url: str, key: str, *, retries: int = RETRIES, timeout: float = TIMEOUT) -> None:
        self.url = url.rstrip("/")
        self.key = key
        self.retries = retries
        self.timeout = timeout

    def create_ticket(self, body: CreateScaleTicketRequest, **call: Any) -> Answer[CreateScaleTicketResponse]:
        """Pushes a scale ticket (section 4.1). The header `Ticket-Result` says what became of it."""
        return self._post("createTicket", "/platform-api/v1/tickets", CreateScaleTicketResponse, body, **call)

    def create_account(self, body: CreateAccountRequest, **call: Any) -> Answer[CreateAccountResponse]:
        """Creates an account (section 4.2). A 409 has the ids of the account with this name in `details`."""
        return self._post("createAccount", "/platform-api/v1/accounts", CreateAccountResponse, body, **call)

    def get_sites(self, hauler_id: str, *, etag: Optional[str] = None, **call: Any) -> Answer[GetSitesResponse]:
        """Reads the sites, kiosks and materials of a hauler (section 4.3). With the `ETag` of an earlier answer: 304."""
        headers = {**(call.pop("headers", None) or {}), **({} if etag is None else {"If-None-Match": etag})}
        query = {"hauler_id": hauler_id}
        return self._get("getSites", "/scale-platform/v1/sites", GetSitesResponse, query, headers=headers, **call)

    def request_video(self, body: CreateVideoRequest, **call: Any) -> Answer[CreateVideoResponse]:
        """Asks for a clip (section 4.4). It is sent again only after an answer that says that nothing was done."""
        path = "/video-platform/v1/videos/requests"
        return self._send("requestVideo", "POST", path, CreateVideoResponse, "API-KEY", body=body, **call)

    def list_videos(
        self,
        customer_id: str,
        *,
        truck_id: Optional[str] = None,
        camera_id: Optional[str] = None,
        request_id: Optional[str] = None,
        start_time: Optional[str] = None,
        end_time: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **call: Any,
    ) -> Answer[ListVideosResponse]:
        """Lists clips (section 4.5)."""
        query = {
            "customer_id": customer_id,
            "truck_id": truck_id,
            "camera_id": camera_id,
            "request_id": request_id,
            "start_time": start_time,
            "end_time": end_time,
            "page": page,
            "page_size": page_size,
        }
        return self._get("listVideos", "/video-platform/v1/videos", ListVideosResponse, query, **call)

    def list_continuous(
        self,
        customer_id: str,
        truck_id: str,
        start_time: str,
        end_time: str,
        *,
        camera_id: Optional[str] = None,
        page: Optional[int] = None,
        page_size: Optional[int] = None,
        **call: Any,
    ) -> Answer[ContinuousResponse]:
        """Lists continuous recordings (section 4.6)."""
        query = {
            "customer_id": customer_id,
            "truck_id": truck_id,
            "start_time": start_time,
            "end_time": end_time,
            "camera_id": camera_id,
            "page": page,
            "page_size": page_size,
        }
        return self._get("listContinuous", "/video-platform/v1/videos/continuous", ContinuousResponse, query, **call)

    def _get(self, operation: str, path: str, type_: Type[T], query: Dict[str, Any], **call: Any) -> Answer[T]:
        given = {_wire(name): str(value) for name, value in query.items() if value is not None}
        return self._send(operation, "GET", f"{path}?{urllib.parse.urlencode(given)}", type_, "API-KEY", **call)

    def _post(self, operation: str, path: str, type_: Type[T], body: Any, **call: Any) -> Answer[T]:
        given = call.pop("headers", None) or {}
        own = next((value for name, value in given.items() if name.lower() == _KEY.lower()), None)
        headers = {name: value for name, value in given.items() if name.lower() != _KEY.lower()}
        headers[_KEY] = call.pop("idempotency_key", None) or own or str(uuid.uuid4())
        return self._send(operation, "POST", path, type_, "PLATFORM-API-KEY", body=body, headers=headers, **call)

    def _send(
        self,
        operation: str,
        method: str,
        path: str,
        type_: Type[T],
        key_header: str,
        *,
        body: Any = None,
        headers: Optional[Dict[str, str]] = None,
        retries: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> Answer[T]:
        sent = {"Accept": "application/json", key_header: self.key, **(headers or {})}
        data = None
        if method == "POST":
            sent["Content-Type"] = "application/json"
            data = to_json(body).encode()
        limit = self.timeout if timeout is None else timeout
        last = (self.retries if retries is None else retries) + 1
        is_safe = method == "GET" or _KEY in sent
        attempt = 1
        while True:
            request = urllib.request.Request(self.url + path, data, sent, method=method)
            result = _attempt(operation, request, limit)
            if isinstance(result, Answer):
                return Answer(result.status, result.headers, _decoded(type_, result.body))
            result.attempts = attempt
            result.idempotency_key = sent.get(_KEY)
            wait = _wait(result, attempt)
            if attempt >= last or wait > MAX_WAIT or not _is_temporary(result, is_safe):
                raise result
            _log.info("%s; attempt %d follows in %.1f s", result, attempt + 1, wait)
            time.sleep(wait)
            attempt += 1


class AsyncClient:
    """The operations of `Client` for `asyncio`, each in a thread of its own."""

    def __init__(self, url: str, key: str, *, retries: int = RETRIES, timeout: float = TIMEOUT) -> None:
        self._client = Client(url, key, retries=retries, timeout=timeout)

    async def create_ticket(self, body: CreateScaleTicketRequest, **call: Any) -> Answer[CreateScaleTicketResponse]:
        return await asyncio.to_thread(self._client.create_ticket, body, **call)

    async def create_account(self, body: CreateAccountRequest, **call: Any) -> Answer[CreateAccountResponse]:
        return await asyncio.to_thread(self._client.create_account, body, **call)

    async def get_sites(self, hauler_id: str, **call: Any) -> Answer[GetSitesResponse]:
        return await asyncio.to_thread(self._client.get_sites, hauler_id, **call)

    async def request_video(self, body: CreateVideoRequest, **call: Any) -> Answer[CreateVideoResponse]:
        return await asyncio.to_thread(self._client.request_video, body, **call)

    async def list_videos(self, customer_id: str, **query: Any) -> Answer[ListVideosResponse]:
        return await asyncio.to_thread(self._client.list_videos, customer_id, **query)

    async def list_continuous(
        self, customer_id: str, truck_id: str, start_time: str, end_time: str, **query: Any
    ) -> Answer[ContinuousResponse]:
        return await asyncio.to_thread(
            self._client.list_continuous, customer_id, truck_id, start_time, end_time, **query
        )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def _attempt(operation: str, request: urllib.request.Request, limit: float) -> Union[Answer[Any], CallError]:
    failure: CallError
    try:
        try:
            with _opener.open(request, timeout=limit) as response:
                status, headers, data = response.status, response.headers, response.read()
        except urllib.error.HTTPError as answer:
            status, headers, data = answer.code, answer.headers, answer.read()
    except (OSError, http.client.HTTPException) as error:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, TimeoutError) or str(cause) == "timed out":
            failure = ApiTimeoutError(f"{operation}: no whole answer within {limit:g} s")
        else:
            failure = ApiConnectionError(f"{operation}: no answer from {request.full_url}: {cause}")
        failure.__cause__ = error
        return failure
    text = data.decode("utf-8", "replace")
    body = _json_of(text)
    if status == 304 or (200 <= status < 300 and body is not None):
        return Answer(status, headers, body)
    return ApiError(operation, status, headers, body, text)


def _wait(failure: CallError, attempt: int) -> float:
    retry_after = failure.retry_after if isinstance(failure, ApiError) else None
    if retry_after is not None:
        return retry_after
    return min(MAX_BACKOFF, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1)


def _is_temporary(failure: CallError, is_safe: bool) -> bool:
    if not isinstance(failure, ApiError):
        return is_safe
    if not is_safe:
        return failure.status in _NOTHING_DONE
    return failure.status < 300 or failure.status in _REPEATABLE


def to_json(value: Any, path: str = "") -> str:
    """JSON text. Numbers keep their digits: `Decimal("12.480")` is sent as `12.480`. A field that is `None` is absent."""
    if is_dataclass(value) and not isinstance(value, type):
        named = {_wire(each.name): getattr(value, each.name) for each in fields(value)}
        return to_json({name: each for name, each in named.items() if each is not None}, path)
    if isinstance(value, dict):
        members = (
            f"{json.dumps(str(name))}:{to_json(each, f'{path}.{name}'.lstrip('.'))}" for name, each in value.items()
        )
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


def _wire(name: str) -> str:
    return re.sub(r"_(.)", lambda match: match.group(1).upper(), name)


def _decoded(type_: Any, value: Any) -> Any:
    """The dataclass of an answer. Fields that it does not know are ignored; one that is absent is `None`."""
    origin = typing.get_origin(type_)
    if value is None or type_ is Any:
        return value
    if origin is Union:
        return _decoded(typing.get_args(type_)[0], value)
    if origin is list and isinstance(value, list):
        return [_decoded(typing.get_args(type_)[0], each) for each in value]
    if is_dataclass(type_) and isinstance(value, dict):
        hints = typing.get_type_hints(type_)
        known = {each.name: _decoded(hints[each.name], value.get(_wire(each.name))) for each in fields(type_)}
        return type_(**known)
    return value


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


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
