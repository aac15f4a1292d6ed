import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import type { RequestHook } from './request-hook.js';

/** How long a client may take, each in milliseconds. A slow one is cut off: what it holds is missing to the others. */
export interface ServerLimits {
  /** From the connection, or the last answer's end, until the headers are complete. */
  readonly headers: number;
  /** Until a JSON body is complete. */
  readonly jsonBody: number;
  /** Between two pieces of an upload: the whole of it may take hours. */
  readonly uploadPause: number;
  /** For what is left of a body that nobody wants, after the answer. */
  readonly unreadBody: number;
  /** Without any progress in either direction, such as a reader that has stopped reading. */
  readonly silence: number;
  /** Between two requests: longer than common balancers keep an idle connection. */
  readonly keepAlive: number;
  /** How often connections are held to `headers`; Node's own default is 30 s, three times what it would enforce. */
  readonly check: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headers: 10_000,
  jsonBody: 30_000,
  uploadPause: 30_000,
  unreadBody: 5_000,
  silence: 120_000,
  keepAlive: 65_000,
  check: 2_000,
};

/** A body that no route reads is swallowed after the answer, but not for as long as its sender likes. */
export function endUnreadBodies({ unreadBody }: ServerLimits): RequestHook {
  return (request, response) => {
    if (!hasBody(request)) return;
    response.once('finish', () => {
      if (!request.complete) setTimeout(() => endUnlessComplete(request), unreadBody).unref();
    });
  };
}

/** As RFC 9112, section 6.3 tells it. */
export function hasBody({ headers }: Pick<Request, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function endUnlessComplete(request: Request): void {
  if (!request.complete) request.socket.destroy();
}

const UNREADABLE: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'the headers must be at most 1,000 lines and 16 KiB in all',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request must arrive faster'],
};

/** What Node.js's sockets know, though their type does not tell: whose turn it is on them to be answered. */
interface ServedSocket extends Socket {
  readonly _httpMessage?: Response | null;
}

/** Those that wait for the answers before; what else comes on them is as unreadable, and is told of each time. */
const waiting = new WeakSet<Socket>();

/**
 * What is not even HTTP gets the common error body too (decision 10), after the answers to whole requests that came
 * before it on its connection: nobody may take a stored push for a refused one.
 */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  const { _httpMessage: answer } = socket as ServedSocket;
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else if (waiting.has(socket)) return;
  else if (answer == null) refuse(error, socket);
  else if (answer.req.complete) {
    waiting.add(socket);
    answer.once('close', () => {
      waiting.delete(socket);
      // It is the turn of the next one now, if there is one.
      answerUnreadable(error, socket);
    });
  } else if (answer.headersSent) socket.destroy();
  else refuse(error, socket);
}

function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  const [status, message] = UNREADABLE[error.code ?? ''] ?? ['400 Bad Request', 'the request must be valid HTTP/1.1'];
  const body = JSON.stringify({ success: false, error: { code: 'INVALID_PAYLOAD', message } });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
