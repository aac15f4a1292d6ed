import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { JSON_TYPE } from './answer.js';
import { soleHeader } from './sole-header.js';

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

const HOST_MISSING = 'a request of HTTP/1.1 must have a Host header';
const HOST_REPEATED = 'a request must have one Host header';

/**
 * A request of HTTP/1.1 without `Host`, and any with more than one, has to be refused (RFC 9112, section 3.2). Node.js
 * would refuse the former without a body and before the hooks, which give the answer its request id and the log its
 * line, and take the first of several: a proxy before it may have gone by another one.
 */
export function refuseHost(request: Request, response: Response): boolean {
  if (soleHeader(request, 'Host') !== undefined) return false;
  const isMissing = request.headers.host === undefined;
  if (isMissing && request.httpVersion !== '1.1') return false;
  const body = bodyOf(isMissing ? HOST_MISSING : HOST_REPEATED);
  const headers = { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  response.writeHead(400, headers).end(body);
  return true;
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
  const body = bodyOf(message);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${JSON_TYPE}\r\nX-Request-Id: ${randomUUID()}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

const bodyOf = (message: string): string =>
  JSON.stringify({ success: false, error: { code: 'INVALID_PAYLOAD', message } });
