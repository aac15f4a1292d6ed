import { Exchange, NoAnswerError, type ParsedJson, parsedJson } from '../exchange.js';

/** The answer of the kit to a call. */
export interface PeerAnswer {
  /** 0: the connection is closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The fault that the kit injected. */
  readonly scenario?: string;
}

/** A request that a client sent to the kit. */
export interface Received {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The name in the contract; empty for an unknown path or method. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** In the order of the request, repeated names included. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export interface Call extends Received {
  readonly answer: PeerAnswer;
}

/** All calls of a run, oldest first. */
export interface CallLog {
  readonly calls: readonly Call[];
  readonly apiKey: string;
}

/** The side of the interfaces that the kit acts as. */
export interface Peer {
  operationOf(method: string, path: string): string;
  answer(call: Received, earlier: readonly Call[]): PeerAnswer;
}

export const headersOf = ({ headers }: Received, name: string): string[] =>
  headers.flatMap(([each, value]) => (each.toLowerCase() === name.toLowerCase() ? [value] : []));

/** The only header of that name; undefined where it is absent or repeated. */
export function soleHeader(call: Received, name: string): string | undefined {
  const values = headersOf(call, name);
  return values.length === 1 ? values[0] : undefined;
}

const parsed = new WeakMap<Buffer, ParsedJson>();

/** The body as JSON, parsed once. */
export function jsonOf({ body }: { readonly body: Buffer }): ParsedJson {
  const result = parsed.get(body) ?? parsedJson(body);
  parsed.set(body, result);
  return result;
}

export const json = (
  status: number,
  body: unknown,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly scenario?: string } = {},
): PeerAnswer => ({
  status,
  headers: { 'Content-Type': 'application/json', ...more.headers },
  body: Buffer.from(JSON.stringify(body)),
  scenario: more.scenario,
});

/** The common error body. `JSON.stringify` leaves out details that are undefined. */
export const refusal = (
  status: number,
  code: string,
  message: string,
  {
    details,
    ...more
  }: { readonly headers?: Record<string, string>; readonly scenario?: string; readonly details?: object } = {},
): PeerAnswer => json(status, { success: false, error: { code, message, details } }, more);

/** The call as the report shows it. */
export function exchangeOf(call: Call, baseUrl: string, apiKey: string): Exchange {
  const { operation, method, path, query, headers, body, answer } = call;
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  const shown = headers.map(([name, value]) =>
    /^(platform-)?api-key$/i.test(name) && value !== apiKey ? [name, '[another key]'] : [name, value],
  );
  const request = {
    operation,
    method,
    url: `${baseUrl}${path}${search}`,
    headers: Object.fromEntries(shown) as Record<string, string>,
    body: body.length === 0 ? undefined : body.toString('utf8'),
  };
  return new Exchange(
    request,
    answer.status !== 0 ? answer : new NoAnswerError('the kit closed the connection on purpose'),
  );
}
