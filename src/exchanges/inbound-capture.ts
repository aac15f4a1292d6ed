import { helpAddressOf } from '../errors/help-address.js';
import type { RequestHandler, Response } from 'express';
import { type Operation, operationOf } from '../contracts/interfaces/operations.js';
import type { Reference } from '../contracts/common/references.js';
import { isUuid } from '../contracts/common/text.js';
import { uuidv7 } from '../database/uuid.js';
import { AppError } from '../errors/app-error.js';
import type { EncodedRequest } from '../http/body-reader.js';
import { type BodyRequest, IGNORED_FIELDS_HEADER } from '../http/json-body.js';
import type { FaultedRequest, RecordedRequest } from '../http/recorded-request.js';
import { isWellFormedKey } from '../observability/key-form.js';
import { maskSecrets } from '../observability/known-secrets.js';
import { BodyCapture, collectedBytes, keptBody } from './body-capture.js';
import type { ExchangeLog } from './exchange-log.service.js';
import type { KeptBody, Lane } from './exchange-record.js';
import { lateOutcome, type Outcome, outcomeOf } from './inbound-outcome.js';

/** How long a call without an answer may stay open after its caller left. */
const UNDECIDED_MS = 300_000;

type CapturedRequest = RecordedRequest &
  FaultedRequest &
  BodyRequest &
  EncodedRequest & {
    readonly replay?: { readonly of: string };
    readonly principal?: {
      readonly keyId: string | null;
      readonly keyPrefix: string;
      readonly haulerId: string | null;
    };
  };

/** A call while it is observed. */
interface OpenCall {
  readonly id: string;
  readonly operation: Operation;
  readonly isFile: boolean;
  readonly request: CapturedRequest;
  readonly response: Response;
  readonly path: string;
  readonly started: number;
  readonly body: BodyCapture;
  /** Whether the caller had left before the answer began. */
  hasLeft: boolean;
  /** Whether the route has answered, to whomever. */
  isAnswered: boolean;
  /** Called at the end of the answer, if its caller has left. */
  answered: () => void;
}

/** Records every call of the four interfaces, also refused and interrupted ones. */
export function captureInbound(log: ExchangeLog): RequestHandler {
  return (request: CapturedRequest, response, next) => {
    const operation = log.isOn ? operationOf(request.path) : undefined;
    if (operation !== undefined) capture(operation, request, response, log);
    next();
  };
}

function capture(operation: Operation, request: CapturedRequest, response: Response, log: ExchangeLog): void {
  const isFile = operation.route?.file !== undefined;
  const call: OpenCall = {
    id: uuidv7(),
    operation,
    isFile,
    request,
    response,
    path: request.originalUrl,
    started: performance.now(),
    body: new BodyCapture(isFile ? 0 : collectedBytes(log.maxBodyBytes)),
    hasLeft: false,
    isAnswered: false,
    answered: () => undefined,
  };
  request.exchangeId = call.id;
  observeAnswer(call);
  // A file that is sent adds listeners beyond Node's default of 10.
  if (isFile) response.setMaxListeners(20);
  response.once('close', () => {
    if (request.later !== undefined) recordLater(call, request.later, log);
    else if (call.isAnswered || response.headersSent || request.hasNoAnswer === true)
      record(call, log, outcomeOf(call));
    else recordAnswer(call, log);
  });
}

/** The caller left. The work goes on, and the exchange has its result (decision 66). */
function recordAnswer(call: OpenCall, log: ExchangeLog): void {
  call.hasLeft = true;
  call.answered = onceUntil(UNDECIDED_MS, log, () => record(call, log, outcomeOf(call)));
}

/** The answer was that the work takes too long. The work goes on, and the exchange has its result (decision 66). */
function recordLater(call: OpenCall, later: Promise<unknown>, log: ExchangeLog): void {
  let outcome: Outcome = outcomeOf(call);
  const end = onceUntil(UNDECIDED_MS, log, () => record(call, log, outcome));
  const decide = (decided: Outcome | undefined): void => {
    outcome = decided ?? outcome;
    end();
  };
  const help = helpAddressOf(call.request);
  const follow = (work: Promise<unknown>): unknown =>
    work.then(
      (value) => decide(lateOutcome(value, call.path, help)),
      (error: unknown) =>
        error instanceof AppError && error.later !== undefined
          ? follow(error.later)
          : decide(lateOutcome(error, call.path, help)),
    );
  follow(later);
}

/** Calls `run` once: when the returned function is called, after some time, or when the service stops. */
function onceUntil(milliseconds: number, log: ExchangeLog, run: () => void): () => void {
  const end = (): void => {
    clearTimeout(timer);
    if (forget()) run();
  };
  const forget = log.recordAtStop(end);
  const timer = setTimeout(end, milliseconds).unref();
  return end;
}

function record(call: OpenCall, log: ExchangeLog, outcome: Outcome): void {
  const { operation, isFile, request, response, body, hasLeft } = call;
  const route = operation.route?.operation ?? null;
  const { principal } = request;
  const status = response.headersSent && !hasLeft ? response.statusCode : 0;
  const result = outcome.header;
  const inRevision =
    route === 'createTicket' &&
    outcome.status === 200 &&
    !outcome.isReplay &&
    (result === 'created' || result === 'updated' || result === 'stale');
  // The text of an accepted push is not held until the exchange is written.
  const hasBody = principal !== undefined && !inRevision;
  const requestBody = hasBody ? receivedBody(request, collectedBytes(log.maxBodyBytes)) : undefined;
  log.add({
    id: call.id,
    direction: 'inbound',
    lane: laneOf(call, status),
    address: request.ip ?? '',
    interface: operation.api.name,
    route,
    method: request.method,
    path: call.path,
    haulerId: principal?.haulerId ?? haulerIn(request, route),
    connectionId: null,
    apiKeyId: principal?.keyId ?? null,
    keyPrefix: principal?.keyId == null ? null : principal.keyPrefix,
    requestId: textOf(response.getHeader('X-Request-Id')) ?? null,
    status,
    failure: !hasLeft && response.writableFinished ? undefined : 'cut-off',
    result: resultOf(route, outcome) ?? result,
    durationMs: Math.round((performance.now() - call.started) * 10) / 10,
    requestBytes:
      requestBody?.sizeBytes ??
      (Number(request.headers['content-length']) || (inRevision ? Buffer.byteLength(request.rawBody ?? '') : 0)),
    responseBytes: hasLeft ? 0 : body.sizeBytes,
    scenario: request.scenario?.name,
    replayOf: request.replay?.of,
    ignoredFields: textOf(response.getHeader(IGNORED_FIELDS_HEADER)),
    requestHeaders: request.headers,
    requestBody,
    input: principal === undefined ? undefined : (request.parsedBody ?? request.query),
    responseHeaders: status === 0 ? undefined : response.getHeaders(),
    responseBody: isFile ? undefined : body.kept(),
    outcome,
    inRevision,
    references: keyReference(request),
    secrets: keysIn(request),
  });
}

/** Without an identified caller only a link with a valid signature is accepted. A key may have been impossible to check. */
function laneOf({ isFile, request }: OpenCall, status: number): Lane {
  if (request.principal !== undefined || (isFile && status >= 200 && status < 400)) return 'known';
  const couldNotCheck = status === 0 || status >= 500;
  return couldNotCheck && headersWithKey(request).some(isWellFormedKey) ? 'unverified' : 'keyless';
}

type Write = (chunk?: unknown, encoding?: unknown, callback?: unknown) => unknown;

/** Express writes every body with these two methods, also after the caller has left. */
function observeAnswer(call: OpenCall): void {
  const { response, body } = call;
  const observed = response as unknown as { write: Write; end: Write };
  const { write, end } = observed;
  const isHead = response.req.method === 'HEAD';
  observed.write = (chunk, encoding, callback) => {
    body.add(chunk, encoding);
    return write.call(response, chunk, encoding, callback);
  };
  observed.end = (chunk, encoding, callback) => {
    if (response.destroyed && !response.headersSent) call.hasLeft = true;
    call.isAnswered = true;
    if (!isHead) body.add(chunk, encoding);
    // The end may call `write`, which has been observed already.
    observed.write = write;
    const result = end.call(response, chunk, encoding, callback);
    call.answered();
    return result;
  };
}

function receivedBody({ rawBody, rawBytes, wire }: CapturedRequest, maxBytes: number): KeptBody | undefined {
  const content = rawBody ?? rawBytes;
  const body = content === undefined ? undefined : keptBody(content, maxBytes);
  return body === undefined || wire === undefined ? body : { ...body, ...wire };
}

function resultOf(route: string | null, { status, isReplay }: Outcome): string | undefined {
  if (status !== 200) return undefined;
  if (isReplay) return 'replayed';
  return route === 'createAccount' ? 'created' : undefined;
}

/** A key of the partner side may have no hauler; the query then names the hauler. */
function haulerIn({ principal, query }: CapturedRequest, route: string | null): string | null {
  const { haulerId } = query;
  const isNamed = principal !== undefined && route === 'getSites' && typeof haulerId === 'string' && isUuid(haulerId);
  return isNamed ? haulerId.toLowerCase() : null;
}

function keyReference({ headers, principal }: CapturedRequest): Reference[] {
  const value = headers['idempotency-key'];
  return typeof value === 'string' && principal !== undefined ? [{ kind: 'idempotencyKey', value }] : [];
}

/** A caller may repeat its key in a body or a path. Keys of ours are recognised everywhere. */
const keysIn = (request: CapturedRequest): string[] =>
  headersWithKey(request).filter((key) => key.length >= 8 && maskSecrets(key) === key);

const headersWithKey = ({ headers }: CapturedRequest): string[] =>
  [headers['platform-api-key'], headers['api-key']].filter((key) => typeof key === 'string');

const textOf = (header: number | string | readonly string[] | undefined): string | undefined =>
  header === undefined ? undefined : String(header);
