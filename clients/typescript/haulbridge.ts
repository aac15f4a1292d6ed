/**
 * Client of the Scale, Account, Site and Vision interfaces: one file to copy. It needs `fetch`, as Node.js 20 and browsers have it.
 *
 *     const client = createClient({ url: 'https://platform.example', key });
 *     const { body } = await client.createTicket(ticket);
 *
 * It sends a failed request again where that is safe, always with the same body and `Idempotency-Key`. `docs/openapi` has the
 * bounds of all fields.
 */

export type UnitOfMeasure = 'Ton' | 'Gallon' | 'Pound' | 'Kilogram' | 'Cubic Yard' | 'Cubic Meter' | 'Item';

/** A JSON number: `exact('12.480')` is sent digit by digit. */
export type Quantity = number | ExactNumber;

export interface MaterialItem {
  /** UUID of the material in your system. */
  id: string;
  name: string;
  /** In `unitOfMeasure`; zero and negative are allowed. */
  quantity: Quantity;
  /** Price of one unit in cents; 15.5 is 0.155 of a dollar. */
  unitPriceCents?: Quantity;
  unitOfMeasure: UnitOfMeasure;
}

export interface FlowData {
  /** Unique for this flow at its site. */
  ticketNumber: string;
  /** RFC 3339 with an offset. The newest update is kept, in whatever order pushes arrive. */
  updatedAt: string;
}

/** Section 2.2 of the interfaces. */
export interface CreateScaleTicketRequest {
  /** UUID of the disposal site in your system. */
  siteId: string;
  materials: MaterialItem[];
  inboundFlow?: FlowData;
  outboundFlow?: FlowData;
  customFields?: Record<string, string>;
}

export interface CreateScaleTicketResponse {
  success: boolean;
  disposalTicketId: string;
}

export interface BillingAddress {
  street?: string;
  unit?: string;
  city?: string;
  /** Two letters of a state, territory or military region of the USA. */
  state?: string;
  country?: string;
  zip?: string;
}

export interface PrimaryContact {
  firstName?: string;
  lastName?: string;
  email?: string;
  phone?: string;
}

/** Section 2.3. */
export interface CreateAccountRequest {
  accountName: string;
  billingAddress?: BillingAddress;
  primaryContact?: PrimaryContact;
}

export interface CreateAccountResponse {
  accountId: string;
  accountNumber: string;
  accountName: string;
  billingAddress?: BillingAddress & { addressId: string };
  primaryContact?: PrimaryContact & { contactId: string };
}

export interface Address {
  line1: string;
  city: string;
  state: string;
  country: string;
  zipCode: string;
}

export interface Site {
  id: string;
  name: string;
  address?: Address;
  active?: boolean;
  updatedAt?: string;
}

export interface Kiosk {
  id: string;
  siteId: string;
  name: string;
  active?: boolean;
  updatedAt?: string;
}

export interface Material {
  id: string;
  siteId?: string;
  kioskId?: string;
  materialType: string;
  measureUnit: Exclude<UnitOfMeasure, 'Gallon'>;
  active?: boolean;
  updatedAt?: string;
}

/** Section 2.4. An absent list says nothing about its records. */
export interface GetSitesResponse {
  success: boolean;
  data: { sites?: Site[]; kiosks?: Kiosk[]; materials?: Material[] };
}

/** Section 2.5. */
export interface CreateVideoRequest {
  customerId: string;
  truckId: string;
  cameraId: string;
  startTime: string;
  endTime: string;
}

export type VideoStatus = 'processing' | 'ready' | 'failed';

export interface CreateVideoResponse {
  success: boolean;
  requestId: string;
  status: VideoStatus;
  message?: string;
}

export interface Recording {
  id: string;
  customerId: string;
  truckId: string;
  cameraId: string;
  startTime: string;
  endTime: string;
  durationSeconds: number;
  downloadUrl: string;
  expiresAt?: string;
}

/** A clip. `gaps` are the parts of its range without footage. */
export interface Video extends Recording {
  requestId?: string;
  gaps?: { startTime: string; endTime: string }[];
}

export interface Pagination {
  page?: number;
  pageSize?: number;
  totalItems?: number;
  totalPages?: number;
}

/** Section 2.6. */
export interface ListVideosResponse {
  success: boolean;
  data: {
    videos: Video[];
    pagination: Pagination;
    request?: { requestId: string; status: VideoStatus; message?: string };
  };
}

export interface ContinuousResponse {
  success: boolean;
  data: { recordings?: Recording[]; pagination?: Pagination };
}

export interface ListVideosQuery {
  customerId: string;
  truckId?: string;
  cameraId?: string;
  requestId?: string;
  startTime?: string;
  endTime?: string;
  page?: number;
  pageSize?: number;
}

export interface ListContinuousQuery {
  customerId: string;
  truckId: string;
  cameraId?: string;
  startTime: string;
  endTime: string;
  page?: number;
  pageSize?: number;
}

/** What came back. `body` is that of the operation. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Violation {
  readonly path: string;
  readonly rule: string;
  /** A sentence that says what to do. */
  readonly message: string;
}

export interface CallOptions {
  /** How often a failed call is sent again; 3 by default, 0 for never. */
  readonly retries?: number;
  /** Milliseconds for each attempt, until its whole answer; 30,000 by default. */
  readonly timeout?: number;
  /** Of a `POST` to the platform: your own key in place of a new one, to send the same request again later. */
  readonly idempotencyKey?: string;
  /** Of `getSites`: the `ETag` of an earlier answer. A 304 then has no body. */
  readonly etag?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends the call and its waits. */
  readonly signal?: AbortSignal;
}

export interface ClientOptions extends Pick<CallOptions, 'retries' | 'timeout'> {
  /** Address of the service, with a path if it has one. */
  readonly url: string;
  /** The key that the other side has issued. */
  readonly key: string;
  readonly fetch?: typeof fetch;
}

/** The longest wait before another attempt, in milliseconds. A longer `Retry-After` ends the call with its error. */
export const MAX_WAIT = 300_000;
const MAX_BACKOFF = 30_000;
const TIMEOUT = 30_000;
const RETRIES = 3;

/** A call that has failed after its last attempt. */
export class CallError extends Error {
  override readonly name: string = 'CallError';
  attempts = 1;
  /** Pass it to send the same request again later, within 24 hours, without a second effect. */
  idempotencyKey: string | undefined;
}

/** No whole answer: a lost or refused connection, or the time limit. The result is unknown. `cause` says why. */
export class ConnectionError extends CallError {
  override readonly name = 'ConnectionError';
}

/** An answer that is no success. Its message names each field, and the request id. */
export class ApiError extends CallError {
  override readonly name = 'ApiError';
  /** `INVALID_PAYLOAD`, `UNAUTHORIZED` …; undefined if the answer is not that of the interface. */
  readonly code: string | undefined;
  /** Such as `NAME_TAKEN`. */
  readonly reason: string | undefined;
  readonly violations: readonly Violation[];
  /** Of a 409: `accountId` and `accountNumber` of the existing account. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;
  /** Milliseconds until another attempt can succeed. */
  readonly retryAfter: number | undefined;
  readonly operation: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;

  constructor(operation: string, status: number, headers: Headers, body: unknown, text: string) {
    const error = memberOf(body, 'error');
    const details = memberOf(error, 'details');
    const violations = listOf(details['violations']).map((each) => ({
      path: String(each['path'] ?? ''),
      rule: String(each['rule'] ?? ''),
      message: String(each['message'] ?? ''),
    }));
    const code = textOf(error['code']);
    const reason = textOf(details['reason']);
    const requestId = headers.get('X-Request-Id') ?? textOf(details['requestId']);
    const kind = headers.get('Content-Type') ?? 'no content type';
    const lines =
      violations.length > 0
        ? violations.map(({ path, rule, message }) => `${path || 'body'}: ${message} (${rule})`)
        : [textOf(error['message']) ?? `the answer is not that of the interface (${kind}): ${text.slice(0, 200)}`];
    const head = [`${operation}:`, String(status), code, reason].filter((part) => part !== undefined).join(' ');
    super([head, ...[...lines, `request id: ${requestId ?? 'none'}`].map((line) => `  ${line}`)].join('\n'));
    this.operation = operation;
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.code = code;
    this.reason = reason;
    this.violations = violations;
    this.details = details;
    this.requestId = requestId;
    this.retryAfter = millisecondsOf(headers.get('Retry-After'));
  }
}

/** Made by `exact`. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** A number with its digits: `exact('12.480')` is sent as `12.480`. Needs `JSON.rawJSON` (Node.js 22, browsers of 2025). */
export function exact(digits: string): ExactNumber {
  const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => ExactNumber };
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(digits)) throw new TypeError(`${digits} is not a JSON number`);
  if (rawJSON === undefined) throw new TypeError('this runtime has no JSON.rawJSON: pass a number');
  return rawJSON(digits);
}

export type Client = ReturnType<typeof createClient>;

/** A client of one service with one key. A key may open several interfaces. */
export function createClient(options: ClientOptions) {
  const platform = { header: 'PLATFORM-API-KEY', hasKey: true };
  const partner = { header: 'API-KEY', hasKey: false };
  return {
    /** Pushes a scale ticket (section 4.1). The header `Ticket-Result` says what became of it. */
    createTicket: (body: CreateScaleTicketRequest, call?: CallOptions): Promise<Answer<CreateScaleTicketResponse>> =>
      send(options, { ...platform, operation: 'createTicket', path: '/platform-api/v1/tickets', body }, call),

    /** Creates an account (section 4.2). A 409 has the ids of the account with this name. */
    createAccount: (body: CreateAccountRequest, call?: CallOptions): Promise<Answer<CreateAccountResponse>> =>
      send(options, { ...platform, operation: 'createAccount', path: '/platform-api/v1/accounts', body }, call),

    /** Reads the sites, kiosks and materials of a hauler (section 4.3). */
    getSites: (query: { haulerId: string }, call?: CallOptions): Promise<Answer<GetSitesResponse>> =>
      send(options, { ...partner, operation: 'getSites', path: '/scale-platform/v1/sites', query }, call),

    /** Asks for a clip (section 4.4). It is sent again only after an answer that says that nothing was done. */
    requestVideo: (body: CreateVideoRequest, call?: CallOptions): Promise<Answer<CreateVideoResponse>> =>
      send(options, { ...partner, operation: 'requestVideo', path: '/video-platform/v1/videos/requests', body }, call),

    /** Lists clips (section 4.5). */
    listVideos: (query: ListVideosQuery, call?: CallOptions): Promise<Answer<ListVideosResponse>> =>
      send(options, { ...partner, operation: 'listVideos', path: '/video-platform/v1/videos', query }, call),

    /** Lists continuous recordings (section 4.6). */
    listContinuous: (query: ListContinuousQuery, call?: CallOptions): Promise<Answer<ContinuousResponse>> =>
      send(options, { ...partner, operation: 'listContinuous', path: '/video-platform/v1/videos/continuous', query }, call),
  };
}

interface Sent {
  readonly operation: string;
  readonly path: string;
  /** The header of the key. */
  readonly header: string;
  /** Whether the interface has `Idempotency-Key`. */
  readonly hasKey: boolean;
  readonly query?: object;
  readonly body?: object;
}

/** Nothing was done, or the same request can be sent again with its key. 502 and 504 come from a gateway. */
const REPEATABLE = new Set([408, 429, 500, 502, 503, 504]);
/** Answers after which nothing was done. */
const NOTHING_DONE = new Set([408, 429, 503]);

async function send<Body>(client: ClientOptions, sent: Sent, call: CallOptions = {}): Promise<Answer<Body>> {
  const retries = call.retries ?? client.retries ?? RETRIES;
  const request = requestOf(client, sent, call);
  const idempotencyKey = new Headers(request.headers).get('Idempotency-Key') ?? undefined;
  const isSafe = sent.body === undefined || idempotencyKey !== undefined;
  for (let attempt = 1; ; attempt++) {
    const answer = await attemptOf<Body>(client, sent, request, call);
    if (!(answer instanceof CallError)) return answer;
    answer.attempts = attempt;
    answer.idempotencyKey = idempotencyKey;
    const backoff = Math.min(MAX_BACKOFF, 1_000 * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);
    const wait = (answer instanceof ApiError ? answer.retryAfter : undefined) ?? backoff;
    if (attempt > retries || wait > MAX_WAIT || !isTemporary(answer, isSafe)) throw answer;
    await pause(wait, call.signal);
  }
}

function isTemporary(error: CallError, isSafe: boolean): boolean {
  if (!(error instanceof ApiError)) return isSafe;
  return isSafe ? error.status < 300 || REPEATABLE.has(error.status) : NOTHING_DONE.has(error.status);
}

function requestOf(client: ClientOptions, { header, hasKey, query, body }: Sent, call: CallOptions): RequestInit {
  const headers = new Headers({ Accept: 'application/json', [header]: client.key });
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  if (body !== undefined && hasKey) headers.set('Idempotency-Key', call.idempotencyKey ?? crypto.randomUUID());
  if (query !== undefined && call.etag !== undefined) headers.set('If-None-Match', call.etag);
  for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
  return body === undefined
    ? { method: 'GET', headers }
    : { method: 'POST', headers, body: JSON.stringify(body, refuseNonNumbers) };
}

/** JSON would send NaN and Infinity as null. */
function refuseNonNumbers(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${name}: ${value} is not a JSON number`);
  return value;
}

async function attemptOf<Body>(
  { url, fetch: own = fetch, ...client }: ClientOptions,
  { operation, path, query = {} }: Sent,
  request: RequestInit,
  { timeout = client.timeout ?? TIMEOUT, signal }: CallOptions,
): Promise<Answer<Body> | CallError> {
  const address = new URL(url.replace(/\/+$/, '') + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.append(name, String(value));
  }
  const limit = AbortSignal.timeout(timeout);
  try {
    const ends = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    // A redirect would take the key to another host.
    const response = await own(address.href, { ...request, redirect: 'manual', signal: ends });
    const { status, headers } = response;
    const text = await response.text();
    const body = parsed(text);
    if (status === 304 || (response.ok && body !== undefined)) return { status, headers, body: body as Body };
    return new ApiError(operation, status, headers, body, text);
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    const why = limit.aborted ? `no whole answer within ${timeout} ms` : `no answer from ${address.origin}`;
    return new ConnectionError(`${operation}: ${why}`, { cause });
  }
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `Retry-After`: seconds, or a date (RFC 9110). */
function millisecondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d+$/.test(retryAfter.trim())) return Number(retryAfter) * 1_000;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function memberOf(value: unknown, name: string): Record<string, unknown> {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
