import type { RequestHandler, Response } from 'express';
import { ACCOUNT_API } from '../contracts/account/account.api.js';
import type { InterfaceName } from '../contracts/common/api-contract.js';
import type { Reference } from '../contracts/common/references.js';
import { isUuid, withoutFinalSlashes } from '../contracts/common/text.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { RESULT_HEADER } from '../contracts/scale/scale.dto.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { uuidv7 } from '../database/uuid.js';
import type { FaultedRequest, RecordedRequest } from '../http/recorded-request.js';
import type { EncodedRequest } from '../http/body-reader.js';
import { type BodyRequest, IGNORED_FIELDS_HEADER } from '../http/json-body.js';
import { maskSecrets } from '../observability/known-secrets.js';
import { isComplete } from '../observability/request-observer.js';
import { BodyCapture, collectedBytes, keptBody } from './body-capture.js';
import type { ExchangeLog } from './exchange-log.service.js';
import type { KeptBody } from './exchange-record.js';

/** Downloads of the reference partner belong to Vision. */
const FILES_PREFIX = '/media/v1/';

interface Operation {
  readonly interface: InterfaceName;
  readonly route: string | null;
  readonly isFile: boolean;
}

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

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  [SCALE_API, ACCOUNT_API, SITE_API, VISION_API].flatMap((api) =>
    Object.entries(api.routes).map(([route, { path }]) => [
      `${api.prefix}${path}`,
      { interface: api.name, route, isFile: false },
    ]),
  ),
);

const PREFIXES = [SCALE_API, SITE_API, VISION_API].map(
  ({ prefix, name }) => [`${prefix}/`, { interface: name, route: null, isFile: false }] as const,
);

const DOWNLOAD: Operation = { interface: 'vision', route: 'download', isFile: true };

/** The operation of a path; undefined outside the four interfaces. An unknown path below a prefix has no route. */
export function operationOf(path: string): Operation | undefined {
  const known = OPERATIONS.get(path);
  if (known !== undefined) return known;
  const comparable = withoutFinalSlashes(path.toLowerCase());
  if (comparable.startsWith(FILES_PREFIX)) return DOWNLOAD;
  const prefixed = PREFIXES.find(([prefix]) => comparable.startsWith(prefix));
  return prefixed && (OPERATIONS.get(comparable) ?? prefixed[1]);
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
  const id = uuidv7();
  const started = performance.now();
  const bytesBefore = request.socket.bytesWritten;
  const path = request.originalUrl;
  const body = new BodyCapture(operation.isFile ? 0 : collectedBytes(log.maxBodyBytes));
  request.exchangeId = id;
  observeBody(response, body);
  // A file that is sent adds listeners beyond Node's default of 10.
  if (operation.isFile) response.setMaxListeners(20);
  response.once('close', () => {
    const isWhole = isComplete(request, response, bytesBefore);
    const { principal } = request;
    const status = response.headersSent ? response.statusCode : 0;
    const result = textOf(response.getHeader(RESULT_HEADER));
    const isReplay = response.getHeader('Idempotency-Replayed') !== undefined;
    const inRevision =
      operation.route === 'createTicket' &&
      status === 200 &&
      !isReplay &&
      (result === 'created' || result === 'updated' || result === 'stale');
    // The text of an accepted push is not held until the exchange is written.
    const hasBody = principal !== undefined && !inRevision;
    const requestBody = hasBody ? receivedBody(request, collectedBytes(log.maxBodyBytes)) : undefined;
    log.add({
      id,
      direction: 'inbound',
      interface: operation.interface,
      route: operation.route,
      method: request.method,
      path,
      haulerId: principal?.haulerId ?? haulerIn(request, operation),
      connectionId: null,
      apiKeyId: principal?.keyId ?? null,
      keyPrefix: principal?.keyId == null ? null : principal.keyPrefix,
      requestId: textOf(response.getHeader('X-Request-Id')) ?? null,
      status,
      failure: isWhole ? undefined : 'cut-off',
      result: resultOf(operation, status, isReplay) ?? result,
      durationMs: Math.round((performance.now() - started) * 10) / 10,
      requestBytes:
        requestBody?.sizeBytes ??
        (Number(request.headers['content-length']) || (inRevision ? Buffer.byteLength(request.rawBody ?? '') : 0)),
      responseBytes: body.sizeBytes,
      scenario: request.scenario?.name,
      replayOf: request.replay?.of,
      ignoredFields: textOf(response.getHeader(IGNORED_FIELDS_HEADER)),
      requestHeaders: request.headers,
      requestBody,
      input: principal === undefined ? undefined : (request.parsedBody ?? request.query),
      responseHeaders: status === 0 ? undefined : response.getHeaders(),
      responseBody: operation.isFile ? undefined : body.kept(),
      inRevision,
      references: keyReference(request),
      secrets: keysIn(request),
    });
  });
}

type Write = (chunk?: unknown, encoding?: unknown, callback?: unknown) => unknown;

/** Express writes every body with these two methods. */
function observeBody(response: Response, body: BodyCapture): void {
  const observed = response as unknown as { write: Write; end: Write };
  const { write, end } = observed;
  const isHead = response.req.method === 'HEAD';
  observed.write = (chunk, encoding, callback) => {
    body.add(chunk, encoding);
    return write.call(response, chunk, encoding, callback);
  };
  observed.end = (chunk, encoding, callback) => {
    if (!isHead) body.add(chunk, encoding);
    // The end may call `write`, which has been observed already.
    observed.write = write;
    return end.call(response, chunk, encoding, callback);
  };
}

function receivedBody({ rawBody, rawBytes, wire }: CapturedRequest, maxBytes: number): KeptBody | undefined {
  const content = rawBody ?? rawBytes;
  const body = content === undefined ? undefined : keptBody(content, maxBytes);
  return body === undefined || wire === undefined ? body : { ...body, ...wire };
}

function resultOf({ route }: Operation, status: number, isReplay: boolean): string | undefined {
  if (status !== 200) return undefined;
  if (isReplay) return 'replayed';
  return route === 'createAccount' ? 'created' : undefined;
}

/** A key of the partner side may have no hauler; the query then names the hauler. */
function haulerIn({ principal, query }: CapturedRequest, { route }: Operation): string | null {
  const { haulerId } = query;
  const isNamed = principal !== undefined && route === 'getSites' && typeof haulerId === 'string' && isUuid(haulerId);
  return isNamed ? haulerId.toLowerCase() : null;
}

function keyReference({ headers, principal }: CapturedRequest): Reference[] {
  const value = headers['idempotency-key'];
  return typeof value === 'string' && principal !== undefined ? [{ kind: 'idempotencyKey', value }] : [];
}

/** A caller may repeat its key in a body or a path. Keys of ours are recognised everywhere. */
function keysIn({ headers }: CapturedRequest): string[] {
  const keys = [headers['platform-api-key'], headers['api-key']];
  return keys.filter((key) => typeof key === 'string' && key.length >= 8 && maskSecrets(key) === key) as string[];
}

const textOf = (header: number | string | readonly string[] | undefined): string | undefined =>
  header === undefined ? undefined : String(header);
