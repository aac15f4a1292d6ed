import { parse } from 'content-type';
import { randomUUID } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NextFunction, Request, RequestHandler } from 'express';
import helmet from 'helmet';
import { AppError } from '../errors/app-error.js';
import { maskSecretsInData } from '../observability/known-secrets.js';

/** A media type in lower case, with its parameters. A header that is absent or no media type has another type than any. */
export function mediaTypeOf(contentType: string | undefined): { readonly type: string; readonly charset?: string } {
  const { type, parameters } = parse(contentType ?? '');
  const { charset } = parameters;
  return charset === undefined ? { type } : { type, charset: charset.toLowerCase() };
}

/** RFC 9110, section 12.4.2. */
const WEIGHT = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/;

/**
 * The media types of `Accept` with their weights alone. Express would compare the other parameters too, but a form of an answer has one
 * character set and always its head: it is the same answer with `charset`, with `header` or without.
 */
export function acceptedTypes(accept: string): string {
  const ranges: string[] = [];
  for (let start = 0; start < accept.length;) {
    const { type, parameters, index } = parse(accept, { comma: true, start });
    const { q = '' } = parameters;
    if (type !== '') ranges.push(WEIGHT.test(q) ? `${type};q=${q}` : type);
    start = index + 1;
  }
  return ranges.join(', ');
}

const ACCEPTED_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's own id if it is valid and no secret of ours, else a new one (decisions 14, 59). */
export function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  const isAccepted = typeof given === 'string' && ACCEPTED_REQUEST_ID.test(given) && maskSecretsInData(given) === given;
  return isAccepted ? given : randomUUID();
}

const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
  ['X-Content-Type-Options', 'nosniff'],
];

const securityNames = new Set(SECURITY_HEADERS.map(([name]) => name.toLowerCase()));

/** Whether every JSON response has this security header. The name is in lower case. */
export const isSecurityHeader = (name: string): boolean => securityNames.has(name);

/** The headers of every response beside `X-Request-Id` (decision 14). A file or a page replaces those that do not fit it. */
export const COMMON_HEADERS: ReadonlyMap<string, string> = new Map([
  ['Cache-Control', 'no-store'],
  ...SECURITY_HEADERS,
]);

export const setCommonHeaders: RequestHandler = (request, response, next) => {
  response.setHeader('X-Request-Id', requestIdOf(request)).setHeaders(COMMON_HEADERS as Map<string, string>);
  next();
};

/** Helmet's headers, for pages. Swagger UI must also work over plain HTTP in a closed network. */
const helmetHeaders = helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });

/** An address of `X-Forwarded-For` with its port, as Azure and some balancers write it. */
const WITH_PORT = /^(?:\[([\da-f:.%]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/i;

/** Express compares addresses as they are written: one with a port would be no trusted proxy, and a new caller each time. */
export const stripForwardedPorts: RequestHandler = ({ headers }, _response, next) => {
  const forwarded = headers['x-forwarded-for'];
  if (forwarded !== undefined) {
    const hops = String(forwarded).split(',');
    headers['x-forwarded-for'] = hops.map((hop) => hop.trim().replace(WITH_PORT, '$1$2')).join(', ');
  }
  next();
};

class HeaderRecorder extends ServerResponse {
  readonly headers = new Map<string, string>();

  override setHeader(name: string, value: number | string | readonly string[]): this {
    this.headers.set(name, String(value));
    return this;
  }
}

/** Recorded once: helmet would build the content security policy for every response again. */
const recorder = new HeaderRecorder(new IncomingMessage(new Socket()));
helmetHeaders(recorder.req, recorder, () => undefined);

/** The headers of the pages under `/docs` and `/console`, and of their files. */
export const PAGE_HEADERS: ReadonlyMap<string, string> = recorder.headers;

/**
 * Refuses a request of HTTP/1.1 without `Host`, and any with several (RFC 9112, section 3.2). Node would use the first of
 * several, while a proxy in front of it may have used another one.
 */
export const refuseInvalidHost: RequestHandler = (request, _response, next) => {
  if (soleHeader(request, 'host') !== undefined) {
    next();
    return;
  }
  const isMissing = request.headers.host === undefined;
  if (isMissing && request.httpVersion !== '1.1') {
    next();
    return;
  }
  const message = isMissing ? 'a request of HTTP/1.1 must have a Host header' : 'a request must have one Host header';
  next(new AppError('invalid', message, { headers: { Connection: 'close' } }));
};

/**
 * The value of a header that was sent exactly once. Node joins some repeated headers and drops others; the raw list has
 * all of them (decision 10).
 */
export function soleHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string | undefined {
  let found: string | undefined;
  const wanted = name.toLowerCase();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i];
    if (header?.length !== wanted.length || header.toLowerCase() !== wanted) continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[i + 1];
  }
  return found;
}

/** Joins several middlewares into one, because each layer of Express's router allocates closures for every request. */
export const inSequence =
  (...handlers: readonly RequestHandler[]): RequestHandler =>
  (request, response, next) => {
    let called = 0;
    const callNext: NextFunction = (error?: unknown) => {
      const handler = handlers[called++];
      if (error !== undefined || handler === undefined) next(error);
      else void handler(request, response, callNext);
    };
    callNext();
  };

/** The value of a cookie of a request. A proxy may send each cookie in a line of its own (RFC 9113, section 8.2.3): Node joins them. */
export function cookieValue({ headers }: Pick<Request, 'headers'>, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
}
