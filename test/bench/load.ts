import autocannon from 'autocannon';

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly method?: 'GET' | 'POST';
  readonly next: () => Asked;
}

/** One more request; `name` is what its answer is counted under. */
export interface Asked {
  readonly name: string;
  readonly body?: string;
  /** In place of the one of the load's address. */
  readonly path?: string;
  /** Whether an answer of 200 is the right one. */
  readonly right?: (body: string) => boolean;
}

export interface Outcome {
  readonly seconds: number;
  /** What was answered with 200. */
  readonly acknowledged: readonly string[];
  /** Any other end of a request. */
  readonly failures: readonly string[];
  /** Of each answer, in milliseconds. */
  readonly latencies: readonly number[];
}

/** Asks as fast as so many connections can, one request on each at a time. */
export async function push({ url, headers, connections, seconds, method = 'POST', next }: Load): Promise<Outcome> {
  const acknowledged: string[] = [];
  const failures: string[] = [];
  const latencies: number[] = [];
  let last = performance.now();
  const begun = last;
  const result = await autocannon<{ asked?: Asked }>({
    url,
    connections,
    duration: seconds,
    timeout: 10,
    method,
    headers: { 'content-type': 'application/json', ...headers },
    requests: [
      {
        setupRequest(request, context) {
          const asked = next();
          context.asked = asked;
          if (asked.body !== undefined) request.body = asked.body;
          if (asked.path !== undefined) request.path = asked.path;
          return request;
        },
        onResponse(status, body, { asked }) {
          if (status === 200 && asked?.right?.(body) !== false) acknowledged.push(asked?.name ?? '');
          else failures.push(`${status} ${body}`);
          last = performance.now();
        },
      },
    ],
    setupClient: (client) => client.on('response', (_status, _bytes, milliseconds) => latencies.push(milliseconds)),
  });
  const broken = result.errors + result.timeouts;
  if (broken > 0) failures.push(`${broken} connections failed or timed out`);
  return { seconds: (last - begun) / 1000, acknowledged, failures, latencies };
}
