import { decodeUtf8, parseJson } from '../../contracts/common/json.js';
import { Exchange, NoAnswerError } from '../exchange.js';

/** The answer of the kit to a call. */
export interface PeerAnswer {
  /** 0: the connection is closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The connection is closed after so many bytes of the body. */
  readonly cutAfter?: number;
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
  /** In the order in which they came, repeated ones too. */
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
  readonly haulerId?: string;
}

/** The side of the interfaces that the kit plays. */
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

const parsed = new WeakMap<Buffer, { readonly value?: unknown; readonly fault?: string }>();

/** The body as JSON, or why it is none. */
export function jsonOf({ body }: Received): { readonly value?: unknown; readonly fault?: string } {
  let result = parsed.get(body);
  if (result === undefined) {
    try {
      result = { value: parseJson(decodeUtf8(body)) };
    } catch (error) {
      result = { fault: (error as Error).message };
    }
    parsed.set(body, result);
  }
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
  ...(more.scenario === undefined ? {} : { scenario: more.scenario }),
});

export const refusal = (
  status: number,
  code: string,
  message: string,
  more: { readonly headers?: Record<string, string>; readonly scenario?: string; readonly details?: object } = {},
): PeerAnswer => {
  const { details, ...rest } = more;
  return json(
    status,
    { success: false, error: { code, message, ...(details === undefined ? {} : { details }) } },
    rest,
  );
};

/** The connection is closed, as if the answer had been lost. */
export const lost = (scenario: string): PeerAnswer => ({ status: 0, headers: {}, body: Buffer.alloc(0), scenario });

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
    ...(body.length === 0 ? {} : { body: body.toString('utf8') }),
  };
  const hasAnswer = answer.status !== 0 && answer.cutAfter === undefined;
  return new Exchange(request, hasAnswer ? answer : new NoAnswerError('the kit closed the connection on purpose'));
}
