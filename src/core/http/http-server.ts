import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type RequestListener, Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { unavailable } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import { JSON_TYPE } from './answer.js';
import { type Connection, type ConnectionLimits, Connections } from './connections.js';
import { COMMON_HEADERS, requestIdOf } from './headers.js';

/** Limits of the connections. Times are in milliseconds. A slow client is disconnected: it holds resources that others need. */
export interface ServerLimits extends ConnectionLimits {
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
  /** Between two requests (`HTTP_KEEP_ALIVE`). */
  readonly keepAlive: number;
  /** Interval of the check for `headers`. Node's default of 30 s would allow three times that timeout. */
  readonly check: number;
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
  keepAlive: 620_000,
  check: 2_000,
  connections: 2_000,
  connectionsPerAddress: 500,
  reservedConnections: 64,
  unreadBytes: 64 * 1024 * 1024,
  fileAnswers: 256,
};

/** Interval at which a closing server looks for connections that have become idle. */
const CLOSE_IDLE_MS = 50;

/** Paths that the reserved connections serve. */
const RESERVED_PATHS = /^\/(health|admin|metrics|console\/api)([/?]|$)/;

const INVALID_REQUESTS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'the headers must be at most 1,000 lines and 16 KiB in all',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the headers must arrive within the time limit'],
};

/** A request that no place was left for. */
interface RefusedRequest {
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly status: number;
}

/** An HTTP server that limits slow clients, answers requests that are not HTTP, and closes without losing a response. */
export class HttpServer extends Server {
  /**
   * A client may close its direction after the last request and still read the answers (RFC 9112, section 9.6). Node would
   * close both. This is no documented API: ADR 12.
   */
  readonly httpAllowHalfOpen = true;
  private readonly open: Connections;
  private closed: Promise<void> | undefined;
  private isDraining = false;
  /** Called when a request is refused because all places but the reserved ones are taken. */
  onRefused: (refused: RefusedRequest) => void = () => undefined;

  /** `isProxy` returns whether an address is that of a trusted proxy, `help` the address of the page about errors. */
  constructor(
    limits: ServerLimits,
    private readonly handle: RequestListener,
    isProxy: (address: string) => boolean,
    private readonly help: () => string | undefined,
  ) {
    super({
      headersTimeout: limits.headers,
      keepAliveTimeout: limits.keepAlive,
      connectionsCheckingInterval: limits.check,
      // One timeout for all bodies would cut off uploads of 2 GiB: each reader of a body has its own.
      requestTimeout: 0,
      // Node would answer without a body and a request id: `refuseInvalidHost` answers instead.
      requireHostHeader: false,
    });
    this.open = new Connections(limits, isProxy);
    const accept: RequestListener = (_request, response) => this.accept(response);
    this.on('request', accept);
    // Node would refuse an unknown `Expect` without a body. RFC 9110 allows a server to ignore it.
    this.on('checkExpectation', accept);
    // The reader of the body sends `100 Continue`, after the guards have accepted the caller.
    this.on('checkContinue', accept);
    this.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => this.refuseInvalid(error, socket));
    this.on('connection', (socket: Socket) => this.open.admit(socket));
    this.setTimeout(limits.silence);
  }

  /** Every response closes its connection from now on, so that callers open their next one elsewhere. */
  beginDraining(): void {
    this.isDraining = true;
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
    if (![...this.open].some(({ current }) => current?.writableEnded === true)) super.closeIdleConnections();
  }

  private closeGracefully(): Promise<void> {
    for (const { current } of this.open) if (current !== undefined) announceClose(current);
    return new Promise((resolve) => {
      const timer = setInterval(() => this.closeIdleConnections(), CLOSE_IDLE_MS);
      this.close(() => {
        clearInterval(timer);
        resolve();
      });
    });
  }

  /**
   * A connection has one request at a time. A further one, while a response is computed or sent, is not served: the connection ends
   * with that response, and the client may send the further one again (RFC 9112, section 9.3.2).
   */
  private accept(response: ServerResponse): void {
    const connection = this.open.of(response.req.socket);
    if (connection === undefined || connection.socket.destroyed) return;
    if (connection.current === undefined && !connection.isLast) {
      this.serve(connection, response);
      return;
    }
    connection.isLast = true;
    connection.socket.pause();
    ignoreFurtherRequests(connection.socket);
    if (connection.current !== undefined) announceClose(connection.current);
  }

  private serve(connection: Connection, response: ServerResponse): void {
    connection.current = response;
    this.open.touch(connection);
    response.once('prefinish', () => this.open.limitUnread());
    response.once('close', () => this.end(connection));
    if (this.isDraining || this.closed !== undefined || connection.isReserved) announceClose(response);
    if (connection.isReserved && !RESERVED_PATHS.test(response.req.url ?? '')) this.refuse(response);
    else this.handle(response.req, response);
  }

  private refuse(response: ServerResponse): void {
    const { req: request } = response;
    const error = unavailable('too many connections are open; try again shortly', { overload: 'connections' });
    const [path = ''] = (request.url ?? '').split('?', 1);
    const requestId = requestIdOf(request);
    const { status, headers, body } = errorReply(error, path, this.help());
    const text = JSON.stringify(body);
    response.setHeaders(COMMON_HEADERS as Map<string, string>).setHeader('X-Request-Id', requestId);
    response.writeHead(status, { ...headers, 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
    this.onRefused({ method: request.method ?? '', path, requestId, status });
  }

  private end(connection: Connection): void {
    const { socket, isLast, parseError } = connection;
    connection.current = undefined;
    this.open.touch(connection);
    if (isLast) socket.destroySoon();
    else if (parseError !== undefined) writeRefusal(parseError, socket, this.help());
  }

  /**
   * Answers input that is not HTTP with the common error body (decision 10), after the responses to the complete requests
   * before it: a client must not take a stored ticket for a refused one.
   */
  private refuseInvalid(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = this.open.of(socket);
    // A client that has opened a connection early would take the 408 for the answer of its first request.
    const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
    if (connection === undefined || error.code === 'ECONNRESET' || isUnused || !socket.writable) {
      socket.destroy();
      return;
    }
    const { current } = connection;
    if (current?.req.complete === true) connection.parseError ??= error;
    else if (current?.headersSent === true) socket.destroy();
    else writeRefusal(error, socket, this.help());
  }
}

/** Before its headers are sent. */
function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** The parser of Node.js, as far as it is used here. */
interface ParsedSocket extends Socket {
  readonly parser?: { onIncoming: () => number } | null;
}

/**
 * Node parses all requests in the 64 KiB that it has read, also those after the one that ends the connection. Without the objects of
 * their responses this takes a sixth of the time and an eighth of the memory. This is no public API: ADR 12.
 */
function ignoreFurtherRequests({ parser }: ParsedSocket): void {
  if (parser !== null && parser !== undefined) parser.onIncoming = () => 0;
}

function writeRefusal({ code }: NodeJS.ErrnoException, socket: Socket, help: string | undefined): void {
  const [status, message] = INVALID_REQUESTS[code ?? ''] ?? ['400 Bad Request', 'the request must be valid HTTP/1.1'];
  const details = help === undefined ? {} : { details: { help: `${help}#INVALID_PAYLOAD` } };
  const body = JSON.stringify({ success: false, error: { code: 'INVALID_PAYLOAD', message, ...details } });
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
