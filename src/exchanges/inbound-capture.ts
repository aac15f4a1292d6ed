import type { Application, Request, RequestHandler, Response } from 'express';
import { REPLAYED_HEADER } from '../contracts/common/idempotency.js';
import type { Reference } from '../contracts/common/references.js';
import { isUuid } from '../contracts/common/text.js';
import { uuidv7 } from '../core/database/uuid.js';
import { inBackground } from '../core/errors/background.js';
import { BodyCapture, collectedBytes, keptBody, type KeptBody } from '../core/http/body-capture.js';
import type { Call, CallSink, EndedCall } from '../core/http/call.js';
import { IGNORED_FIELDS_HEADER, parseUnreadBody } from '../core/http/json-body.js';
import { operationOf } from '../contracts/interfaces/operations.js';
import { isWellFormedKey } from '../core/observability/key-form.js';
import { maskSecrets } from '../core/observability/known-secrets.js';
import type { ExchangeLog } from './exchange-log.service.js';
import type { Standing } from './exchange-record.js';
import { keptOf } from './kept.rules.js';

/** A file that is sent adds listeners beyond Node's default of 10. */
const MAX_LISTENERS = 20;

/** Begins the exchange of every call of the four interfaces, also of one that is refused. */
export function beginExchanges(log: ExchangeLog): RequestHandler {
  return ({ call, path }, response, next) => {
    const operation = log.isOn ? operationOf(path) : undefined;
    if (operation !== undefined) {
      const isFile = operation.route?.file !== undefined;
      call.operation = operation;
      call.exchangeId = uuidv7();
      call.answer = new BodyCapture(isFile ? 0 : collectedBytes(log.maxBodyBytes));
      if (isFile) response.setMaxListeners(MAX_LISTENERS);
    }
    next();
  };
}

type Write = (this: Response, chunk?: unknown, encoding?: unknown, callback?: unknown) => unknown;

/** Collects the bodies of answers. Express writes every body with these two methods, also after the caller has left. */
export function collectAnswers(application: Application): void {
  const { response } = application as unknown as { readonly response: { write: Write; end: Write } };
  const { write, end } = response;
  response.write = function (chunk, encoding, callback) {
    this.req.call.answer?.add(chunk, encoding);
    return write.call(this, chunk, encoding, callback);
  };
  response.end = function (chunk, encoding, callback) {
    if (this.req.method !== 'HEAD') this.req.call.answer?.add(chunk, encoding);
    return end.call(this, chunk, encoding, callback);
  };
}

/** Records the exchange of a call when it has ended. */
export function recordExchanges(log: ExchangeLog): CallSink {
  return (ended) => {
    const { call, request, status } = ended;
    if (call.exchangeId === undefined) return;
    const isUnread = status === 0 && call.principal !== undefined && call.parsedBody === undefined;
    if (!isUnread) return addRecord(ended, log);
    // Its caller left before the body was read: the exchange is found by what is in it.
    inBackground(parseUnreadBody(request).then(() => addRecord(ended, log)));
  };
}

function addRecord(ended: EndedCall, log: ExchangeLog): void {
  const { call, request, response, status, result } = ended;
  const { exchangeId, operation, answer, principal } = call;
  if (exchangeId === undefined || operation === undefined || answer === undefined) return;
  const route = operation.route?.operation ?? null;
  const isFile = operation.route?.file !== undefined;
  const inRevision = isNewRevision(route, ended);
  const standing = standingOf(ended, isFile);
  // The text of an accepted push is not held until the exchange is written.
  const kept = keptOf({ standing, status, direction: 'inbound', inRevision }, 'whole');
  const requestBody = kept.request ? receivedBody(call, collectedBytes(log.maxBodyBytes)) : undefined;
  log.add({
    id: exchangeId,
    direction: 'inbound',
    standing,
    address: call.address ?? '',
    interface: operation.api.name,
    route,
    method: request.method,
    path: request.originalUrl,
    haulerId: principal?.haulerId ?? haulerIn(request, route),
    connectionId: null,
    apiKeyId: principal?.keyId ?? null,
    keyPrefix: principal?.keyId == null ? null : principal.keyPrefix,
    requestId: call.requestId,
    status,
    failure: ended.isComplete ? undefined : 'cut-off',
    result: decisionOf(route, ended) ?? result,
    durationMs: Math.round(ended.durationMs * 10) / 10,
    requestBytes:
      requestBody?.sizeBytes ??
      (Number(request.headers['content-length']) || (inRevision ? Buffer.byteLength(call.rawBody ?? '') : 0)),
    responseBytes: status === 0 ? 0 : answer.sizeBytes,
    scenario: call.scenario?.name,
    replayOf: call.replay?.of,
    ignoredFields: textOf(response.getHeader(IGNORED_FIELDS_HEADER)),
    requestHeaders: request.headers,
    requestBody,
    input: principal === undefined ? undefined : (call.parsedBody ?? request.query),
    responseHeaders: status === 0 ? undefined : response.getHeaders(),
    responseBody: isFile ? undefined : answer.kept(),
    decidedStatus: decidedStatus(ended),
    inRevision,
    references: keyReference(request),
    secrets: keysIn(request),
  });
}

/** Of the answer, also of one that was written after the caller had left; 0 if nothing was decided. */
const decidedStatus = ({ response, status }: EndedCall): number =>
  status !== 0 || response.writableEnded ? response.statusCode : 0;

const isReplay = ({ response }: EndedCall): boolean => response.getHeader(REPLAYED_HEADER) !== undefined;

function isNewRevision(route: string | null, ended: EndedCall): boolean {
  const { status, result } = ended;
  const isKept = result === 'created' || result === 'updated' || result === 'stale';
  return route === 'createTicket' && status === 200 && isKept && !isReplay(ended);
}

/** What `Ticket-Result` does not say. */
function decisionOf(route: string | null, ended: EndedCall): string | undefined {
  if (decidedStatus(ended) !== 200) return undefined;
  if (isReplay(ended)) return 'replayed';
  return route === 'createAccount' ? 'created' : undefined;
}

/** Without an identified caller only a link with a valid signature is accepted. A key may have been impossible to check. */
function standingOf({ call, request, status }: EndedCall, isFile: boolean): Standing {
  if (call.principal !== undefined || (isFile && status >= 200 && status < 400)) return 'known';
  const couldNotCheck = status === 0 || status >= 500;
  return couldNotCheck && headersWithKey(request).some(isWellFormedKey) ? 'unverified' : 'keyless';
}

function receivedBody({ rawBody, rawBytes, wire }: Call, maxBytes: number): KeptBody | undefined {
  const content = rawBody ?? rawBytes;
  const body = content === undefined ? undefined : keptBody(content, maxBytes);
  return body === undefined || wire === undefined ? body : { ...body, ...wire };
}

/** A key of the partner side may have no hauler; the query then names the hauler. */
function haulerIn({ call: { principal }, query }: Request, route: string | null): string | null {
  const { haulerId } = query;
  const isNamed = principal !== undefined && route === 'getSites' && typeof haulerId === 'string' && isUuid(haulerId);
  return isNamed ? haulerId.toLowerCase() : null;
}

function keyReference({ headers, call: { principal } }: Request): Reference[] {
  const value = headers['idempotency-key'];
  return typeof value === 'string' && principal !== undefined ? [{ kind: 'idempotencyKey', value }] : [];
}

/** A caller may repeat its key in a body or a path. Keys of ours are recognised everywhere. */
const keysIn = (request: Request): string[] =>
  headersWithKey(request).filter((key) => key.length >= 8 && maskSecrets(key) === key);

const headersWithKey = ({ headers }: Request): string[] =>
  [headers['platform-api-key'], headers['api-key']].filter((key) => typeof key === 'string');

const textOf = (header: number | string | readonly string[] | undefined): string | undefined =>
  header === undefined ? undefined : String(header);
