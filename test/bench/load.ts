import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import autocannon, { type Client } from 'autocannon';

export interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  readonly next: () => Asked;
}

/** One more request; `name` is what its answer is counted under. */
export interface Asked {
  readonly name: string;
  readonly body: string;
}

export interface Outcome {
  readonly seconds: number;
  /** Requests with status 200. */
  readonly acknowledged: readonly string[];
  /** Any other end of a request. */
  readonly failures: readonly string[];
}

/**
 * Posts as fast as so many connections can, one request on each at a time. Requests are written out here: autocannon's own
 * way to change them costs it 15 µs each, a third of what the service needs, and on the same two cores.
 */
export async function push({ url, headers, connections, seconds, next }: Load): Promise<Outcome> {
  const acknowledged: string[] = [];
  const failures: string[] = [];
  const write = writerOf(url, headers);
  let last = performance.now();
  const begun = last;
  const setupClient = (client: Client) => {
    let asked: Asked | undefined;
    client.getRequestBuffer = () => write((asked = next()));
    client.on('response', (status) => {
      if (status === 200) acknowledged.push(asked?.name ?? '');
      else failures.push(`${status} ${asked?.name}`);
      last = performance.now();
    });
  };
  const result = await autocannon({ url, connections, duration: seconds, timeout: 10, setupClient });
  const broken = result.errors + result.timeouts;
  if (broken > 0) failures.push(`${broken} connections failed or timed out`);
  return { seconds: (last - begun) / 1000, acknowledged, failures };
}

function writerOf(url: string, headers: Load['headers']): (asked: Asked) => Buffer {
  const { host, pathname } = new URL(url);
  const all = { host, connection: 'keep-alive', 'content-type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `POST ${pathname} HTTP/1.1\r\n${lines.join('')}content-length: `;
  return ({ body }) => Buffer.from(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/**
 * Of the load's own process: what a measurement has left would else be collected during the next one, by threads that
 * hold a processor for some milliseconds each. With 8 connections the slowest hundredth is made of such moments.
 */
export const collectGarbage: () => void = (() => {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
})();
