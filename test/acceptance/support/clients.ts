import { target, type Service } from './target.js';

/** What the generated clients have in common. Their own types are checked beside the documents. */
interface PublishedClient {
  readonly OPERATIONS: object;
  readonly createClient: (operations: object, config: object) => Record<string, Operation>;
}

type Operation = (args: CallArguments, options?: CallOptions) => Promise<unknown>;

export interface CallArguments {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Options of the client: how often it tries again, and with which key. */
export interface CallOptions {
  readonly retry?: { readonly retries: number };
  readonly idempotencyKey?: string | boolean;
  readonly timeout?: number;
}

/** What came back, of success and of refusal alike. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

type ClientName = 'scale' | 'account' | 'site' | 'vision';

const load = (name: ClientName): Promise<PublishedClient> =>
  import(new URL(`../../../clients/typescript/${name}.ts`, import.meta.url).href) as Promise<PublishedClient>;

/**
 * Calls an operation of one of the four interfaces through the client that we publish: the suite thus proves the client.
 * Without a key none is sent.
 */
export async function callClient<Body>(
  name: ClientName,
  operation: string,
  { key, service = target, ...args }: CallArguments & { readonly key?: string; readonly service?: Service },
  options: CallOptions = {},
): Promise<Answer<Body>> {
  const { createClient, OPERATIONS } = await load(name);
  let answer: Response | undefined;
  const client = createClient(OPERATIONS, {
    serverUrl: service.url,
    ...(key === undefined ? {} : { auth: { apiKey: { PLATFORM_API_KEY: key, API_KEY: key } } }),
    fetch: async (input: string, init?: RequestInit) => (answer = await fetch(input, init)),
  });
  const called = client[operation];
  if (called === undefined) throw new Error(`the client ${name} has no operation ${operation}`);
  const body = await called(args, options).catch((error: unknown) => {
    if (answer === undefined || !(error instanceof Error) || !('body' in error)) throw error;
    return error.body;
  });
  if (answer === undefined) throw new Error(`the client ${name} has sent nothing`);
  return { status: answer.status, headers: answer.headers, body: body as Body };
}
