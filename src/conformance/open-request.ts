import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { MAX_HEAD_BYTES } from '../contracts/common/answer-limits.js';
import { type KitAnswer, type KitRequest, NoAnswerError } from './exchange.js';

/** Sends one request, and returns its answer once the head has arrived. */

export type Agents = Readonly<Record<'http:' | 'https:', Agent>>;

export const agentsOf = (options: { readonly keepAlive: boolean; readonly maxSockets?: number }): Agents => ({
  'http:': new Agent(options),
  'https:': new TlsAgent(options),
});

/** A response whose body is still arriving. */
export interface Opened {
  readonly incoming: IncomingMessage;
  /** An error of the connection after the response, such as bytes after its announced end. */
  readonly lateError: () => Error | undefined;
}

/** Rejects with `NoAnswerError`, or when the signal is aborted. */
export type Open = (url: URL, signal: AbortSignal) => Promise<Opened>;

export async function openRequest(request: KitRequest, url: URL, agents: Agents, signal: AbortSignal): Promise<Opened> {
  const isTls = url.protocol === 'https:';
  const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
    method: request.method,
    headers: headersOf(request),
    agent: agents[isTls ? 'https:' : 'http:'],
    signal,
    maxHeaderSize: MAX_HEAD_BYTES,
  });
  // An error after the response also reaches the reader of the body.
  let late: Error | undefined;
  outgoing.on('error', (error) => void (late = error));
  outgoing.end(request.body);
  try {
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { incoming, lateError: () => late };
  } catch (error) {
    throw signal.aborted ? error : new NoAnswerError(reasonOf(error as Error, url.host));
  }
}

const headersOf = ({ headers, body }: KitRequest) => ({
  Accept: 'application/json',
  'Accept-Encoding': 'identity',
  'User-Agent': 'haulbridge-conformance',
  ...(body === undefined
    ? {}
    : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
  ...headers,
});

export function headOf(incoming: IncomingMessage): Omit<KitAnswer, 'body'> {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return { status: incoming.statusCode ?? 0, headers: Object.fromEntries(headers) as Record<string, string> };
}

export const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

function reasonOf(error: NodeJS.ErrnoException, host: string): string {
  const code = error.code ?? '';
  if (code === 'ECONNREFUSED') return `connection refused by ${host}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `no address found for ${host}`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return `${host} closed the connection without an answer`;
  if (code.startsWith('HPE_')) return `the answer is not valid HTTP (${code})`;
  if (/CERT|TLS|SSL|SIGNED/.test(code)) return `TLS with ${host} failed (${code})`;
  return `no answer from ${host} (${code === '' ? error.message : code})`;
}
