import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type KitAnswer, type KitRequest, NoAnswerError, type Send } from './exchange.js';

/** Of an answer whose request has no `maxBytes`. Parsed JSON takes ten times its size in memory. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface Transport {
  readonly send: Send;
  close(): void;
}

/**
 * Sends requests over HTTP. It follows no redirect, repeats nothing, and limits the size of each answer; `timeoutMs` limits
 * the time until the answer is complete. `fetch` would send a request again after 421, also a POST, and refuses ports on
 * which a server under test may listen, such as 6000 and 10080.
 */
export function httpTransport(timeoutMs: number): Transport {
  const agents = { 'http:': new Agent({ keepAlive: true }), 'https:': new TlsAgent({ keepAlive: true }) };
  return {
    send: (request) => sendOnce(request, timeoutMs, agents),
    close: () => Object.values(agents).forEach((agent) => agent.destroy()),
  };
}

async function sendOnce(
  request: KitRequest,
  timeoutMs: number,
  agents: Readonly<Record<'http:' | 'https:', Agent>>,
): Promise<KitAnswer> {
  const url = new URL(request.url);
  const isTls = url.protocol === 'https:';
  const signal = AbortSignal.timeout(timeoutMs);
  const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
    method: request.method,
    headers: headersOf(request),
    agent: agents[isTls ? 'https:' : 'http:'],
    signal,
  });
  // An error after the response also reaches the reader of the body.
  outgoing.on('error', () => undefined);
  try {
    outgoing.end(request.body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const maxBytes = request.maxBytes ?? MAX_ANSWER_BYTES;
    return answerOf(incoming, await bodyOf(incoming, maxBytes, request.peekBytes), maxBytes);
  } catch (error) {
    if (signal.aborted) throw new NoAnswerError(`no complete answer within ${timeoutMs / 1000} s`);
    throw error instanceof NoAnswerError ? error : new NoAnswerError(reasonOf(error as Error, url.host));
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

/** Closes the connection if the answer is too large, or after `peekBytes`. */
async function bodyOf(incoming: IncomingMessage, maxBytes: number, peekBytes = Infinity): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= peekBytes) break;
      if (size > maxBytes)
        throw new NoAnswerError(`the answer is larger than ${Math.floor(maxBytes / 1024 / 1024)} MiB`);
    }
  } catch (error) {
    if (error instanceof NoAnswerError) throw error;
    throw new NoAnswerError('the connection closed before the answer was complete');
  }
  return Buffer.concat(chunks);
}

function answerOf(incoming: IncomingMessage, body: Buffer, maxOutputLength: number): KitAnswer {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  return {
    status: incoming.statusCode ?? 0,
    headers,
    body: decoded(body, headers['content-encoding'], maxOutputLength),
  };
}

const DECODERS = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/** A server may compress although the kit asks it not to. */
function decoded(body: Buffer, encoding: string | undefined, maxOutputLength: number): Buffer {
  if (encoding === undefined || encoding === 'identity' || body.length === 0) return body;
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding as keyof typeof DECODERS] : undefined;
  if (decode === undefined) throw new NoAnswerError(`unsupported Content-Encoding: ${encoding.slice(0, 40)}`);
  try {
    return decode(body, { maxOutputLength });
  } catch {
    throw new NoAnswerError(`the body cannot be decoded as ${encoding}, or is too large`);
  }
}

function reasonOf(error: NodeJS.ErrnoException, host: string): string {
  const code = error.code ?? '';
  if (code === 'ECONNREFUSED') return `connection refused by ${host}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `no address found for ${host}`;
  if (code === 'ECONNRESET' || code === 'EPIPE') return `${host} closed the connection without an answer`;
  if (code.startsWith('HPE_')) return `the answer is not valid HTTP (${code})`;
  if (/CERT|TLS|SSL|SIGNED/.test(code)) return `TLS with ${host} failed (${code})`;
  return `no answer from ${host} (${code === '' ? error.message : code})`;
}
