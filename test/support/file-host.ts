import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { held } from './held.js';

export interface FileHost {
  /** A signed link: its query is a secret that must appear nowhere. */
  readonly link: string;
  /** Heads of the requests so far, oldest first. */
  readonly asked: IncomingHttpHeaders[];
  /** Sets the answer to the next requests. */
  answer(listener: RequestListener): void;
  stop(): Promise<void>;
}

export const LINK_SECRET = 'sig=top-secret-signature';

/** A partner's file host on the loopback interface, which does whatever its script says. */
export async function startFileHost(): Promise<FileHost> {
  let listener: RequestListener = (_, res) => res.writeHead(500).end();
  const asked: IncomingHttpHeaders[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((req, res) => {
    asked.push(req.headers);
    listener(req, res);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    link: `http://127.0.0.1:${(server.address() as AddressInfo).port}/clips/front.mp4?${LINK_SECRET}`,
    asked,
    answer: (next) => void (listener = next),
    stop: held(async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    }),
  };
}

export interface FileAnswer {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Answers `Range` with 206 where `If-Range` still matches; default true. */
  readonly ranges?: boolean;
  /** Sends Content-Length; default true. */
  readonly length?: boolean;
  /** Breaks the connection after so many bytes of the body. */
  readonly breakAfter?: number | undefined;
}

/** An honest file server, but for what is asked of it. */
export function serveFile(body: Buffer, options: FileAnswer = {}): RequestListener {
  const { etag, lastModified, ranges = true, length = true, breakAfter } = options;
  return (req, res) => {
    const from = Number(/^bytes=(\d+)-$/.exec(req.headers.range ?? '')?.[1] ?? 0);
    const fresh = req.headers['if-range'] === (etag ?? lastModified);
    const start = ranges && fresh && from < body.length ? from : 0;
    const part = body.subarray(start);
    if (etag !== undefined) res.setHeader('etag', etag);
    if (lastModified !== undefined) res.setHeader('last-modified', lastModified);
    if (length) res.setHeader('content-length', part.length);
    if (start > 0) res.setHeader('content-range', `bytes ${start}-${body.length - 1}/${body.length}`);
    res.writeHead(start > 0 ? 206 : 200);
    if (breakAfter === undefined || breakAfter >= part.length) return void res.end(part);
    res.write(part.subarray(0, breakAfter), () => setTimeout(() => res.destroy(), 20));
  };
}
