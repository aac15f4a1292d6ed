import { type RequestListener, request as httpRequest, Server } from 'node:http';
import { duplexPair } from 'node:stream';
import type { Call } from './call.js';

export interface InnerRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A response takes longer only if the service is stuck. */
const TIMEOUT_MS = 60_000;

/**
 * Sends HTTP requests to this process without a network: the server listens nowhere, and each request arrives over a pair of
 * streams. No other program can reach it, so that it may mark requests with facts that no header can carry safely.
 */
export class InnerServer {
  constructor(private readonly handle: RequestListener) {}

  /** Resolves when the response is complete. `call` is the record of the request. */
  async send({ method, path, headers, body }: InnerRequest, call: Call): Promise<number> {
    const server = new Server((request, response) => {
      this.handle(Object.assign(request, { call }), response);
    });
    const [ours, theirs] = duplexPair();
    server.emit('connection', theirs);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await new Promise<number>((resolve, reject) => {
        const sent = httpRequest({ method, path, headers, createConnection: () => ours, signal });
        sent.once('error', reject).once('response', (response) => {
          response.once('error', reject).once('end', () => resolve(response.statusCode ?? 0));
          response.resume();
        });
        sent.end(body);
      });
    } finally {
      ours.destroy();
      theirs.destroy();
    }
  }
}
