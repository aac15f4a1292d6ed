import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Call, type Peer, type PeerAnswer, type Received, refusal } from './client-rule.js';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** The run ends when no call has arrived for this time. */
  readonly idleMs: number;
  /** Ends the run. */
  readonly stop?: AbortSignal;
  readonly onListening: (url: string) => void;
}

/** Larger bodies are cut, so that the rules find invalid JSON. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** A run ends after this number of calls or of bytes of bodies. */
const MAX_CALLS = 20_000;
const MAX_TOTAL_BYTES = 128 * 1024 * 1024;

/** Answers as the peer until no call has arrived for `idleMs`, and returns the calls. */
export async function recordCalls(peer: Peer, options: ListenOptions): Promise<Call[]> {
  const calls: Call[] = [];
  const server = createServer();
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const url = urlOf(server, options.host);
  let totalBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<void>((resolve, reject) => {
    timer = setTimeout(resolve, options.idleMs);
    options.stop?.addEventListener('abort', () => resolve(), { once: true });
    server.on('request', (incoming, response) => {
      clearTimeout(timer);
      timer = setTimeout(resolve, options.idleMs);
      handle(peer, calls, incoming, response)
        .then((bytes) => {
          totalBytes += bytes;
          if (calls.length >= MAX_CALLS || totalBytes >= MAX_TOTAL_BYTES) resolve();
        })
        .catch(reject);
    });
  });
  options.onListening(url);
  await ended;
  clearTimeout(timer);
  server.close();
  server.closeAllConnections();
  return calls;
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
}

/** Returns the size of the body. */
async function handle(peer: Peer, calls: Call[], incoming: IncomingMessage, response: ServerResponse): Promise<number> {
  const at = Date.now();
  const body = await bodyOf(incoming);
  const received = receivedOf(peer, incoming, body, at);
  const answer = answerOf(peer, received, calls);
  calls.push({ ...received, answer });
  send(response, answer);
  return body.length;
}

/** A call that the kit cannot answer must not end the run. */
function answerOf(peer: Peer, received: Received, earlier: readonly Call[]): PeerAnswer {
  try {
    return peer.answer(received, earlier);
  } catch (error) {
    return refusal(500, 'INTERNAL_ERROR', `the kit failed: ${(error as Error).message}`, { scenario: 'kit-error' });
  }
}

/** Returns the part of an interrupted body that arrived. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
    }
  } catch {
    // The client closed the connection.
  }
  return Buffer.concat(chunks);
}

function receivedOf(peer: Peer, incoming: IncomingMessage, body: Buffer, at: number): Received {
  const { method = '', url = '', rawHeaders } = incoming;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const headers: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.push([rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '']);
  return {
    at,
    operation: peer.operationOf(method, path),
    method,
    path,
    query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)),
    headers,
    body,
  };
}

function send(response: ServerResponse, { status, headers, body }: PeerAnswer): void {
  if (status === 0) {
    response.destroy();
    return;
  }
  response.writeHead(status, { ...headers, 'Content-Length': String(body.length) });
  response.end(body);
}
