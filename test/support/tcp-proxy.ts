import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { held } from './held.js';

export interface TcpTarget {
  readonly host: string;
  readonly port: number;
}

/** Between a client and a server: what a network does to them. */
export interface TcpProxy {
  readonly port: number;
  /** Everything passes, from now on `delayMs` later in each direction. */
  pass(delayMs?: number): void;
  /** New connections lead to this server. Open ones stay where they are. */
  leadTo(target: TcpTarget): void;
  /** Connections are cut, new ones refused, as while a server starts again. */
  cut(): void;
  /** Connections are reset, as by a balancer that knows them no more; new ones are taken. */
  reset(): void;
  /** Connections stay and are taken, but nothing passes any more. */
  freeze(): void;
  /** From a connection that sends this text, everything arrives, and nothing comes back. */
  loseAnswersTo(text: string): void;
  /** What the client sends arrives with `by` in place of a text of the same length. */
  replace(text: string, by: string): void;
  close(): Promise<void>;
}

export async function startTcpProxy(first: TcpTarget): Promise<TcpProxy> {
  let target = first;
  let mode: 'pass' | 'cut' | 'freeze' = 'pass';
  let delayMs = 0;
  let lost: string | undefined;
  let replaced: readonly [text: string, by: string] | undefined;
  const mute = new Set<Socket>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true).on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      mute.delete(socket);
    });
  };
  const forward = async (from: Socket, to: Socket, isAnswer: boolean) => {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        if (delayMs > 0) await delay(delayMs);
        // Data that arrives while frozen is dropped, so the connection is lost.
        if (!isAnswer && lost !== undefined && chunk.includes(lost)) mute.add(to);
        const isLost = mode === 'freeze' || (isAnswer && mute.has(from));
        if (!isLost && !to.destroyed) to.write(isAnswer || replaced === undefined ? chunk : altered(chunk, replaced));
      }
    } catch {
      // The other end is closed below.
    }
    if (mode !== 'freeze') to.destroy();
  };
  const server = createServer((client) => {
    keep(client);
    const upstream = connect(target);
    keep(upstream);
    void forward(client, upstream, false);
    void forward(upstream, client, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const end = () => sockets.forEach((socket) => socket.destroy());
  return {
    port,
    pass(milliseconds = 0) {
      // Frozen connections have lost data.
      if (mode === 'freeze') end();
      if (mode === 'cut') server.listen(port, '127.0.0.1');
      mode = 'pass';
      lost = undefined;
      replaced = undefined;
      delayMs = milliseconds;
    },
    leadTo: (next) => void (target = next),
    cut() {
      if (mode !== 'cut') server.close();
      mode = 'cut';
      end();
    },
    reset: () => sockets.forEach((socket) => socket.resetAndDestroy()),
    freeze() {
      if (mode === 'cut') server.listen(port, '127.0.0.1');
      mode = 'freeze';
    },
    loseAnswersTo: (text) => void (lost = text),
    replace: (text, by) => void (replaced = [text, by]),
    close: held(async () => {
      end();
      if (mode === 'cut') return;
      server.close();
      await once(server, 'close');
    }),
  };
}

const altered = (chunk: Buffer, [text, by]: readonly [string, string]): Buffer =>
  Buffer.from(chunk.toString('latin1').replaceAll(text, by), 'latin1');
