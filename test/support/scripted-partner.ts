import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { held } from './held.js';

export interface AskedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as it was sent. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** `performance.now()` at its arrival. */
  readonly at: number;
}

/** The answer of the partner to one request. */
export type ScriptedReply = (response: ServerResponse, request: AskedRequest) => void;

export interface ScriptedPartner {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** All requests so far, oldest first. */
  readonly asked: AskedRequest[];
  /** Replies of a route, `GET /scale-platform/v1/sites`, one after the other; the last one is repeated. */
  on(route: string, ...replies: ScriptedReply[]): void;
  /** Requests of one route. */
  askedOf(route: string): AskedRequest[];
  /** Forgets routes and requests. */
  reset(): void;
  /** Also cuts what hangs. */
  stop(): Promise<void>;
}

/** A partner on the loopback interface, over real HTTP, that does whatever its script says. Unknown routes get 404. */
export async function startScriptedPartner(): Promise<ScriptedPartner> {
  const scripts = new Map<string, ScriptedReply[]>();
  const asked: AskedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const url = new URL(incoming.url ?? '/', 'http://partner');
      const request: AskedRequest = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        search: url.search,
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        at: performance.now(),
      };
      asked.push(request);
      const replies = scripts.get(`${request.method} ${request.path}`) ?? [refuses(404, 'NOT_FOUND')];
      const reply = replies.length > 1 ? replies.shift() : replies[0];
      reply?.(response, request);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    on: (route, ...replies) => void scripts.set(route, replies),
    askedOf: (route) => asked.filter(({ method, path }) => `${method} ${path}` === route),
    reset() {
      scripts.clear();
      asked.length = 0;
    },
    stop: held(async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    }),
  };
}

type Headers = Readonly<Record<string, string>>;

export const json =
  (body: unknown, { status = 200, headers = {} }: { status?: number; headers?: Headers } = {}): ScriptedReply =>
  (response) =>
    void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));

/** The common error body (section 2.1). */
export const refuses = (status: number, code: string, message = 'no', headers: Headers = {}): ScriptedReply =>
  json({ success: false, error: { code, message } }, { status, headers });

export const raw =
  (body: string | Buffer, { status = 200, headers = {} }: { status?: number; headers?: Headers } = {}): ScriptedReply =>
  (response) =>
    void response.writeHead(status, headers).end(body);

export const html = (status = 200): ScriptedReply =>
  raw('<!DOCTYPE html><html><body>Welcome</body></html>', { status, headers: { 'Content-Type': 'text/html' } });

export const gzipped = (body: string | Buffer, headers: Headers = {}): ScriptedReply =>
  raw(gzipSync(body), { headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip', ...headers } });

export const redirects = (to: string, status = 302): ScriptedReply => raw('', { status, headers: { Location: to } });

/** Takes the request and never answers. */
export const hangs = (): ScriptedReply => () => undefined;

/** Sends its head and one byte every so many milliseconds, for ever. */
export const trickles =
  (everyMs: number): ScriptedReply =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.write('{"success":true,"data":"');
    const timer = setInterval(() => response.write('x'), everyMs);
    response.once('close', () => clearInterval(timer));
  };

/** Cuts the connection after so many bytes of the body; with none, before any answer. */
export const breaks =
  (body: string | Buffer, after: number): ScriptedReply =>
  (response) => {
    if (after === 0) return void response.destroy();
    const bytes = Buffer.from(body);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
    response.write(bytes.subarray(0, after), () => setTimeout(() => response.destroy(), 20));
  };

/** A body that goes on until the reader has enough. */
export const endless =
  (chunk = Buffer.alloc(65_536, 0x20)): ScriptedReply =>
  (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const pump = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', pump);
    };
    pump();
  };

/** Waits, then does something else. */
export const after =
  (milliseconds: number, reply: ScriptedReply): ScriptedReply =>
  (response, request) =>
    void setTimeout(() => reply(response, request), milliseconds);

/** Waits for something, then does something else. */
export const when =
  (happened: Promise<unknown>, reply: ScriptedReply): ScriptedReply =>
  (response, request) =>
    void happened.then(() => reply(response, request));
