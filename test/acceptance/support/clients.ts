import { ApiError, type CallOptions, type Client, createClient } from '../../../clients/typescript/haulbridge.js';
import { type Service, target } from './target.js';

/** What came back, of success and of refusal alike. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface CallArguments {
  /** The body of a `POST`, or the query of a `GET`: any value, also one that the client's types refuse. */
  readonly given: unknown;
  /** Without a key none is sent. */
  readonly key?: string | undefined;
  readonly service?: Service;
  /** Without an `idempotencyKey` none is sent, and nothing is sent again without `retries`. */
  readonly options?: CallOptions;
}

/** Calls an operation of one of the four interfaces through the client that we publish: the suite thus proves the client. */
export async function callClient<Body>(
  operation: keyof Client,
  { given, key, service = target, options = {} }: CallArguments,
): Promise<Answer<Body>> {
  const client = createClient({
    url: service.url,
    key: key ?? 'none',
    fetch: (address, request) => {
      const headers = new Headers(request?.headers);
      if (options.idempotencyKey === undefined && !hasKey(options)) headers.delete('Idempotency-Key');
      if (key === undefined) for (const name of ['API-KEY', 'PLATFORM-API-KEY']) headers.delete(name);
      return fetch(address, { ...request, headers });
    },
  });
  const call = client[operation] as (given: unknown, options: CallOptions) => Promise<Answer<unknown>>;
  const { status, headers, body } = await call(given, { retries: 0, ...options }).catch((error: unknown) => {
    if (error instanceof ApiError) return error;
    throw error;
  });
  return { status, headers, body: body as Body };
}

const hasKey = ({ headers = {} }: CallOptions): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');
