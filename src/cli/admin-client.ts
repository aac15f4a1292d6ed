import { dryRunPlaceOf } from '../contracts/common/failures.js';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { NETWORK_CAUSES } from '../contracts/common/network-causes.values.js';
import { networkCause } from '../contracts/common/network-cause.js';
import type { Violation } from '../contracts/common/violation.js';
import { ADMIN_API, ADMIN_ROUTES, type AdminResponse, type AdminRouteName } from '../contracts/admin/admin.api.js';
import type { ApiRoute } from '../contracts/common/api-contract.js';

type Values = Readonly<Record<string, string>>;

export interface AdminCall {
  readonly params?: Values;
  readonly query?: Values;
  readonly body?: object;
  /** The body of a route with `upload`. */
  readonly upload?: { readonly content: Readable; readonly sizeBytes: number };
}

/** The service refused a call or could not be reached. */
export class AdminCallError extends Error {
  override readonly name = 'AdminCallError';

  constructor(
    message: string,
    /** The HTTP status; undefined without a response. */
    readonly status: number | undefined,
    readonly violations: readonly Violation[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface AdminClientOptions {
  /** The address of the service. A path in it precedes the prefix of the API. */
  readonly url: URL;
  readonly token?: string | undefined;
  /** Ends a call that takes longer. */
  readonly timeoutMs?: number;
}

/** Calls the admin API over HTTP. `node:http` is used because `fetch` gives up after five minutes without headers. */
export class AdminClient {
  constructor(private readonly options: AdminClientOptions) {}

  async call<Name extends AdminRouteName>(name: Name, call: AdminCall = {}): Promise<AdminResponse<Name>> {
    const json = await this.json(name, call);
    return (json === '' ? undefined : JSON.parse(json)) as AdminResponse<Name>;
  }

  /** The JSON text of the response; empty for a response without a body. */
  async json(name: AdminRouteName, call: AdminCall = {}): Promise<string> {
    const route = ADMIN_ROUTES[name];
    try {
      const response = await this.send(route, call);
      const body = await text(response);
      const status = response.statusCode ?? 0;
      if (status === route.status || (status === 200 && dryRunPlaceOf(route) !== undefined)) return body;
      throw callError(`${route.method} ${routePath(route, call)}`, status, body);
    } finally {
      call.upload?.content.destroy();
    }
  }

  /** The whole list that a route answers in another form, as it arrives. An answer that breaks off is an error. */
  async *stream(name: AdminRouteName, call: AdminCall, accept: string): AsyncGenerator<string> {
    const route = ADMIN_ROUTES[name];
    const response = await this.bytes(name, call, accept);
    if (response.headers['content-type']?.startsWith(accept) !== true) {
      response.destroy();
      throw new AdminCallError(`the service at ${this.options.url.origin} is older: it has no ${accept}`, route.status);
    }
    try {
      yield* response.setEncoding('utf8') as AsyncIterable<string>;
    } catch (error) {
      const { origin } = this.options.url;
      throw new AdminCallError(`the answer of ${origin} broke off: it is incomplete`, route.status, [], {
        cause: error,
      });
    }
  }

  /** The response of a route that sends bytes. The caller must consume or destroy it. */
  async bytes(name: AdminRouteName, call: AdminCall = {}, accept?: string): Promise<IncomingMessage> {
    const route = ADMIN_ROUTES[name];
    const response = await this.send(route, call, accept);
    const status = response.statusCode ?? 0;
    if (status === route.status) return response;
    throw callError(`${route.method} ${routePath(route, call)}`, status, await text(response));
  }

  private async send(route: ApiRoute, call: AdminCall, accept?: string): Promise<IncomingMessage> {
    const { url, token, timeoutMs } = this.options;
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const contentType = call.upload === undefined ? body && 'application/json' : route.upload?.contentType;
    const length = call.upload?.sizeBytes ?? body?.length;
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      agent: false,
      method: route.method,
      path: url.pathname.replace(/\/+$/, '') + routePath(route, call),
      headers: {
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(accept === undefined ? {} : { Accept: accept }),
        ...(contentType === undefined ? {} : { 'Content-Type': contentType }),
        ...(length === undefined ? {} : { 'Content-Length': length }),
      },
      ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
    });
    const response = responseTo(request);
    if (call.upload === undefined) request.end(body);
    // The response says why an upload ended early.
    else pipeline(call.upload.content, request).catch(() => undefined);
    try {
      return await response;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const cause = networkCause(error);
      const words = cause === undefined ? (code ?? message) : NETWORK_CAUSES[cause];
      const reason =
        code === 'ECONNREFUSED' ? `connection refused by ${url.origin}` : `no response from ${url.origin}: ${words}`;
      const advice = OF_AUTHORITY.includes(cause) ? OWN_AUTHORITY : 'start the service or pass --url';
      throw new AdminCallError(`${reason}: ${advice}`, undefined, [], { cause: error });
    }
  }
}

const OF_AUTHORITY: readonly unknown[] = ['certificate-self-signed', 'certificate-untrusted', 'certificate-incomplete'];
const OWN_AUTHORITY = 'name a file with the certificate of your own authority in NODE_EXTRA_CA_CERTS';

function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    // Also handles the error of an upload that fails after the response.
    request.on('error', reject);
  });
}

function routePath({ path }: ApiRoute, { params = {}, query = {} }: AdminCall): string {
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return `${ADMIN_API.prefix}${named}${search === '' ? '' : `?${search}`}`;
}

function callError(called: string, status: number, body: string): AdminCallError {
  try {
    const { error } = JSON.parse(body) as { error: { message: string; details?: { violations?: Violation[] } } };
    return new AdminCallError(error.message, status, error.details?.violations);
  } catch {
    return new AdminCallError(`${called}: the response is ${status} without an error body`, status);
  }
}
