import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as TlsAgent, request as httpsRequest } from 'node:https';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type KitAnswer, type KitRequest, NoAnswerError, type Send } from './exchange.js';

export interface TransportLimits {
  /** For the complete answer. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** Of an answer whose request has no `maxBytes`. As JSON in memory it takes ten times its size. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface Transport {
  readonly send: Send;
  close(): void;
}

/** Sends requests as they are: no redirect is followed, nothing is repeated, and every answer is bounded. */
export function httpTransport(limits: TransportLimits): Transport {
  const agents = { 'http:': new Agent({ keepAlive: true }), 'https:': new TlsAgent({ keepAlive: true }) };
  return {
    send: (request) => sendOnce(request, limits, agents),
    close: () => Object.values(agents).forEach((agent) => agent.destroy()),
  };
}

function sendOnce(
  request: KitRequest,
  { timeoutMs, maxBytes }: TransportLimits,
  agents: Readonly<Record<'http:' | 'https:', Agent>>,
): Promise<KitAnswer> {
  const url = new URL(request.url);
  const limit = request.maxBytes ?? maxBytes;
  const isTls = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const refuse = (message: string) => {
      clearTimeout(timer);
      outgoing.destroy();
      reject(new NoAnswerError(message));
    };
    const outgoing = (isTls ? httpsRequest : httpRequest)(url, {
      method: request.method,
      headers: headersOf(request),
      agent: agents[isTls ? 'https:' : 'http:'],
    });
    const timer = setTimeout(() => refuse(`no complete answer within ${timeoutMs / 1000} s`), timeoutMs);
    outgoing.on('error', (error: NodeJS.ErrnoException) => refuse(reasonOf(error, url.host)));
    outgoing.on('response', (incoming) =>
      collect(
        incoming,
        { limit: request.peekBytes ?? limit, isPeek: request.peekBytes !== undefined },
        refuse,
        (body) => {
          clearTimeout(timer);
          if (!incoming.complete) outgoing.destroy();
          try {
            resolve(answerOf(incoming, body, limit));
          } catch (error) {
            refuse((error as Error).message);
          }
        },
      ),
    );
    outgoing.end(request.body);
  });
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

function collect(
  incoming: IncomingMessage,
  { limit, isPeek }: { readonly limit: number; readonly isPeek: boolean },
  refuse: (message: string) => void,
  done: (body: Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const end = (act: () => void) => {
    if (isOver) return;
    isOver = true;
    act();
  };
  incoming.on('data', (chunk: Buffer) => {
    if (isOver) return;
    size += chunk.length;
    chunks.push(chunk);
    if (isPeek && size >= limit) end(() => done(Buffer.concat(chunks)));
    else if (size > limit) end(() => refuse(`the answer is larger than ${Math.floor(limit / 1024 / 1024)} MiB`));
  });
  incoming.on('end', () => end(() => done(Buffer.concat(chunks))));
  incoming.on('error', () => end(() => refuse('the connection closed before the answer was complete')));
  incoming.on('close', () => end(() => refuse('the connection closed before the answer was complete')));
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
