import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Slow senders of headers or bodies are cut off; an idle connection is kept longer than common balancers keep theirs. */
export function limitServer(server: Server): void {
  server.headersTimeout = 10_000;
  server.requestTimeout = 60_000;
  server.keepAliveTimeout = 65_000;
  server.on('clientError', answerUnreadable);
}

const UNREADABLE: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers must not be larger than 16 KiB in all'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request must arrive faster'],
};

/** What is not even HTTP gets the common error body too (decision 10). */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = UNREADABLE[error.code ?? ''] ?? ['400 Bad Request', 'the request must be valid HTTP/1.1'];
  const body = JSON.stringify({ success: false, error: { code: 'INVALID_PAYLOAD', message } });
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
