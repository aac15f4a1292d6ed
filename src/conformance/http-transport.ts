import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type KitAnswer, type KitRequest, NoAnswerError, type Send, UnprovenError } from './exchange.js';
import { fileOf } from './file-transport.js';
import { agentsOf, headOf, mebibytes, type Open, openRequest } from './open-request.js';

/** Of an answer whose request has no `maxBytes`. Parsed JSON takes ten times its size in memory. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** A larger answer is counted, and not kept: nothing is proven about its contents. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

export interface Transport {
  readonly send: Send;
  close(): void;
}

/**
 * Sends requests over HTTP. It repeats nothing, follows no redirect but that of a file, and limits the size of each answer;
 * `timeoutMs` limits the time until an answer is complete. Each request has a connection of its own, so that a server that
 * leaves a connection unusable breaks the one rule about that (`isKept`), and not those of the requests that follow.
 * `fetch` would send a request again after 421, also a POST, and refuses ports such as 6000 and 10080.
 */
export function httpTransport(timeoutMs: number): Transport {
  const [fresh, kept] = [agentsOf({ keepAlive: false }), agentsOf({ keepAlive: true, maxSockets: 1 })];
  return {
    send: (request) => {
      const open: Open = (url, signal) => openRequest(request, url, request.isKept === true ? kept : fresh, signal);
      return request.isFile === true ? fileOf(request, open, timeoutMs) : answerTo(request, open, timeoutMs);
    },
    close: () => [fresh, kept].forEach((agents) => Object.values(agents).forEach((agent) => agent.destroy())),
  };
}

async function answerTo(request: KitRequest, open: Open, timeoutMs: number): Promise<KitAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const { incoming } = await open(new URL(request.url), signal);
    return await readAnswer(incoming, request.maxBytes);
  } catch (error) {
    if (signal.aborted) throw new NoAnswerError(`no complete answer within ${timeoutMs / 1000} s`);
    throw error;
  }
}

/** `maxBytes` is the limit of the platform: a larger answer is a fault of its own, and its body is empty. */
async function readAnswer(incoming: IncomingMessage, maxBytes: number | undefined): Promise<KitAnswer> {
  const answer = headOf(incoming);
  const limit = maxBytes ?? MAX_ANSWER_BYTES;
  const body = await bodyOf(incoming, limit);
  const plain = body === undefined ? undefined : decoded(body, answer.headers['content-encoding'], limit);
  if (plain !== undefined) return { ...answer, body: plain };
  return { ...answer, body: Buffer.alloc(0), exceeds: limit };
}

/** Undefined beyond the limit: the connection is closed then. */
async function bodyOf(incoming: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  let chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) return undefined;
      if (size > MAX_KEPT_BYTES) chunks = [];
      else chunks.push(chunk);
    }
  } catch {
    throw new NoAnswerError('the connection closed before the answer was complete');
  }
  if (size > MAX_KEPT_BYTES) throw tooLargeForKit(size);
  return Buffer.concat(chunks);
}

const tooLargeForKit = (size: number): UnprovenError =>
  new UnprovenError(
    `the answer has ${mebibytes(size)}: the platform reads it, and the kit checks at most ${mebibytes(MAX_KEPT_BYTES)}`,
  );

const DECODERS = { gzip: gunzipSync, 'x-gzip': gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/** A server may compress although the kit asks it not to. Undefined beyond the limit. */
function decoded(body: Buffer, encoding: string | undefined, limit: number): Buffer | undefined {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || body.length === 0) return body;
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name as keyof typeof DECODERS] : undefined;
  if (decode === undefined) throw new NoAnswerError(`unsupported Content-Encoding: ${name.slice(0, 40)}`);
  const maxOutputLength = Math.min(limit, MAX_KEPT_BYTES);
  try {
    return decode(body, { maxOutputLength });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE')
      throw new NoAnswerError(`the body cannot be decoded as ${name}`);
    if (maxOutputLength < limit) throw tooLargeForKit(maxOutputLength);
    return undefined;
  }
}
