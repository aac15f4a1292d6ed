import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { held } from './held.js';

/** A connection with full control over sending and reading. It retains the complete response. */
export class SlowClient {
  /** Everything that has come, as Latin-1 text. */
  answer = '';
  received = 0;
  /** How long the server let it live, in milliseconds. */
  readonly cutAfter: Promise<number>;
  private drip: NodeJS.Timeout | undefined;

  private constructor(private readonly socket: Socket) {
    const begun = performance.now();
    // A reset instead of an end is as good: the server has cut it off.
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.length;
      if (this.answer.length < 100_000) this.answer += chunk.toString('latin1');
    });
    // Not `once` of node:events: it would take the reset for a failure.
    this.cutAfter = new Promise((resolve) => {
      socket.once('close', () => {
        clearInterval(this.drip);
        resolve(performance.now() - begun);
      });
    });
  }

  static async open(url: string, localAddress?: string): Promise<SlowClient> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) });
    await once(socket, 'connect');
    const client = new SlowClient(socket);
    held(async () => client.close());
    return client;
  }

  send(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** Sends one piece repeatedly at the given rate. */
  sendForever(piece: string, everyMs: number): this {
    this.drip = setInterval(() => this.socket.write(piece), everyMs);
    return this;
  }

  /** Sends a last text and the end (FIN) with it, and still reads. */
  sendLast(text: string | Buffer = ''): this {
    this.socket.end(text);
    return this;
  }

  /** Reads nothing from now on. */
  stopReading(): this {
    this.socket.pause();
    return this;
  }

  read(): this {
    this.socket.resume();
    return this;
  }

  /** Leaves: an end alone (FIN) would say only that nothing more is sent. */
  close(): void {
    clearInterval(this.drip);
    this.socket.resetAndDestroy();
  }
}
