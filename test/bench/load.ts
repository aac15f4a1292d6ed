import autocannon from 'autocannon';

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** The body of one more request; `name` is what its answer is counted under. */
  readonly next: () => { readonly name: string; readonly body: string };
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

/** POSTs as fast as so many connections can, one request on each at a time, each with a body of its own. */
export async function push({ url, headers, connections, seconds, next }: Load): Promise<Outcome> {
  const acknowledged: string[] = [];
  const failures: string[] = [];
  const latencies: number[] = [];
  let last = performance.now();
  const begun = last;
  const result = await autocannon<{ name?: string }>({
    url,
    connections,
    duration: seconds,
    timeout: 10,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    requests: [
      {
        setupRequest(request, context) {
          const { name, body } = next();
          context.name = name;
          request.body = body;
          return request;
        },
        onResponse(status, body, { name = '' }) {
          if (status === 200) acknowledged.push(name);
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
