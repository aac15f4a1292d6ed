import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import autocannon, { type Client } from 'autocannon';

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
  /** Requests with status 200. */
  readonly acknowledged: readonly string[];
  /** Any other end of a request. */
  readonly failures: readonly string[];
  /** Of each answer, in milliseconds. */
  readonly latencies: readonly number[];
}

/**
 * Asks as fast as so many connections can, one request on each at a time. Requests are written out here: autocannon's own
 * way to change them costs it 15 µs each, a third of what the service needs, and on the same two cores.
 */
export async function push({ url, headers, connections, seconds, method = 'POST', next }: Load): Promise<Outcome> {
  const acknowledged: string[] = [];
  const failures: string[] = [];
  const latencies: number[] = [];
  const write = writerOf(url, method, headers);
  let last = performance.now();
  const begun = last;
  const setupClient = (client: Client) => {
    let asked: Asked | undefined;
    let answer = '';
    client.getRequestBuffer = () => {
      asked = next();
      // Only where it is asked for: it makes autocannon gather the headers of every answer.
      const { right } = asked;
      client.requestIterator.currentRequest.onResponse = right && ((_status, body) => (answer = body));
      return write(asked);
    };
    client.on('response', (status, _bytes, milliseconds) => {
      if (status === 200 && asked?.right?.(answer) !== false) acknowledged.push(asked?.name ?? '');
      else failures.push(`${status} ${asked?.name} ${answer}`);
      latencies.push(milliseconds);
      last = performance.now();
    });
  };
  const result = await autocannon({ url, connections, duration: seconds, timeout: 10, setupClient });
  const broken = result.errors + result.timeouts;
  if (broken > 0) failures.push(`${broken} connections failed or timed out`);
  return { seconds: (last - begun) / 1000, acknowledged, failures, latencies };
}

function writerOf(url: string, method: string, headers: Load['headers']): (asked: Asked) => Buffer {
  const { host, pathname, search } = new URL(url);
  const all = { host, connection: 'keep-alive', 'content-type': 'application/json', ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const own = `${pathname}${search}`;
  const rest = ` HTTP/1.1\r\n${head.join('')}content-length: `;
  return ({ path = own, body = '' }) =>
    Buffer.from(`${method} ${path}${rest}${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/**
 * Of the load's own process: what a measurement has left would else be collected during the next one, by threads that
 * hold a processor for some milliseconds each. With 8 connections the slowest hundredth is made of such moments.
 */
export const collectGarbage: () => void = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();
