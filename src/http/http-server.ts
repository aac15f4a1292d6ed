import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { JSON_TYPE } from './answer.js';
import { COMMON_HEADERS } from './headers.js';

/** Limits of the connections. Times are in milliseconds. A slow client is disconnected: it holds resources that others need. */
export interface ServerLimits {
  /** From the connection, or the end of the last response, until the headers are complete. */
  readonly headers: number;
  /** Until a JSON body is complete. */
  readonly jsonBody: number;
  /** Between two chunks of an upload, which may take hours in all. */
  readonly uploadPause: number;
  /** For the rest of a body that no route reads, after the response. */
  readonly unreadBody: number;
  /** Without data in either direction. */
  readonly silence: number;
  /** The same while a file is sent: a stopped reader holds an open file and its buffers. */
  readonly readerPause: number;
  /** Between two requests. Longer than the idle timeout of common load balancers. */
  readonly keepAlive: number;
  /** Interval of the check for `headers`. Node's default of 30 s would allow three times that timeout. */
  readonly check: number;
  /** Open connections: further ones are closed at once. */
  readonly connections: number;
  /** Requests of one connection without a complete response: a further one closes the connection. */
  readonly pipelined: number;
  /** Files that are being sent, of some 512 KiB each: further ones are refused. */
  readonly fileAnswers: number;
}

export const SERVER_LIMITS: ServerLimits = {
  headers: 10_000,
  jsonBody: 30_000,
  uploadPause: 30_000,
  unreadBody: 5_000,
  silence: 120_000,
  readerPause: 30_000,
  keepAlive: 65_000,
  check: 2_000,
  connections: 2_000,
  pipelined: 64,
  fileAnswers: 256,
};

/** Interval at which a closing server looks for connections that have become idle. */
const CLOSE_IDLE_MS = 50;

const INVALID_REQUESTS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'the headers must be at most 1,000 lines and 16 KiB in all',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the headers must arrive within the time limit'],
};

/** An HTTP server that limits slow clients, answers requests that are not HTTP, and closes without losing a response. */
export class HttpServer extends Server {
  /** Responses that are not completely sent, in the order of their requests. */
  private readonly unsent = new Set<ServerResponse>();
  /** The number of them on each connection. */
  private readonly unsentOf = new WeakMap<Socket, number>();
  private readonly refused = new WeakSet<Socket>();
  private closed: Promise<void> | undefined;

  constructor({ headers, keepAlive, check, silence, connections, pipelined }: ServerLimits, handle: RequestListener) {
    super({
      headersTimeout: headers,
      keepAliveTimeout: keepAlive,
      connectionsCheckingInterval: check,
      // One timeout for all bodies would cut off uploads of 2 GiB: each reader of a body has its own.
      requestTimeout: 0,
      // Node would answer without a body and a request id: `refuseInvalidHost` answers instead.
      requireHostHeader: false,
    });
    const accept: RequestListener = (request, response) => {
      const { socket } = request;
      // Node reads 64 KiB at once, and all requests in them: also those that follow the closing one.
      if (socket.destroyed) return;
      const unsent = (this.unsentOf.get(socket) ?? 0) + 1;
      if (unsent > pipelined) {
        socket.destroy();
        return;
      }
      this.unsentOf.set(socket, unsent);
      this.track(response);
      handle(request, response);
    };
    this.on('request', accept);
    // Node would refuse an unknown `Expect` without a body. RFC 9110 allows a server to ignore it.
    this.on('checkExpectation', accept);
    // The reader of the body sends `100 Continue`, after the guards have accepted the caller.
    this.on('checkContinue', accept);
    this.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.refuseInvalid(error, socket));
    this.setTimeout(silence);
    this.maxConnections = connections;
  }

  /** Accepts no new connection, and one last request on open ones. Resolves when all connections are closed. */
  stopAccepting(): Promise<void> {
    this.closed ??= this.closeGracefully();
    return this.closed;
  }

  /**
   * Node considers a connection idle when its response has ended, before the client has received all of it. While such a
   * response exists no connection is closed.
   */
  override closeIdleConnections(): void {
    if (![...this.unsent].some(({ writableEnded }) => writableEnded)) super.closeIdleConnections();
  }

  private closeGracefully(): Promise<void> {
    // Of several pipelined requests only the last one may close the connection.
    const lastOf = new Map([...this.unsent].map((response) => [response.req.socket, response]));
    for (const response of lastOf.values()) if (!response.headersSent) response.setHeader('Connection', 'close');
    return new Promise((resolve) => {
      const timer = setInterval(() => this.closeIdleConnections(), CLOSE_IDLE_MS);
      this.close(() => {
        clearInterval(timer);
        resolve();
      });
    });
  }

  private track(response: ServerResponse): void {
    this.unsent.add(response);
    const { socket } = response.req;
    response.on('close', () => {
      this.unsent.delete(response);
      this.unsentOf.set(socket, (this.unsentOf.get(socket) ?? 1) - 1);
    });
    if (this.closed !== undefined) response.setHeader('Connection', 'close');
  }

  /**
   * Answers input that is not HTTP with the common error body (decision 10), after the responses to the complete requests
   * before it: a client must not take a stored ticket for a refused one.
   */
  private refuseInvalid(error: NodeJS.ErrnoException, socket: Socket): void {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    if (this.refused.has(socket)) return;
    const unsent = [...this.unsent].filter(({ req }) => req.socket === socket);
    const last = unsent.findLast(({ req }) => req.complete);
    if (last !== undefined) {
      this.refused.add(socket);
      last.once('close', () => {
        this.refused.delete(socket);
        this.refuseInvalid(error, socket);
      });
    } else if (unsent.some(({ headersSent }) => headersSent)) socket.destroy();
    else writeRefusal(error, socket);
  }
}

function writeRefusal({ code }: NodeJS.ErrnoException, socket: Socket): void {
  const [status, message] = INVALID_REQUESTS[code ?? ''] ?? ['400 Bad Request', 'the request must be valid HTTP/1.1'];
  const body = JSON.stringify({ success: false, error: { code: 'INVALID_PAYLOAD', message } });
  const head = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${JSON_TYPE}`,
    `X-Request-Id: ${randomUUID()}`,
    ...[...COMMON_HEADERS].map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Whether a request has a body (RFC 9112, section 6.3). */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
