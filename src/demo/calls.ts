import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { IncomingMessage } from 'node:http';
import { AdminCallError } from '../cli/admin-client.js';

const CONNECTIONS = 8;
const TIMEOUT_MS = 15_000;
const WAIT_MS = 30_000;
const POLL_MS = 100;

export const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** False for an error with this status: an earlier start made the same call. */
export async function acceptStatus(status: number, call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof AdminCallError && error.status === status) return false;
    throw error;
  }
}

/** Asks until it is so; returns false if it is not so after 30 s. */
export async function eventually(signal: AbortSignal, isSo: () => Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await delay(POLL_MS, undefined, { signal })) {
    if (await isSo()) return true;
  }
  return false;
}

/** A partner that pushes to the platform side, over few connections that stay open. */
export class DemoPartner {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

  constructor(
    private readonly baseUrl: string,
    private readonly key: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Returns the status: a refusal may be what is wanted. */
  async post(path: string, body: object): Promise<number> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(`${this.baseUrl}/platform-api/v1${path}`, {
        agent: this.agent,
        method: 'POST',
        headers: { 'PLATFORM-API-KEY': this.key, 'Content-Type': 'application/json' },
        signal: AbortSignal.any([this.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      sent.on('response', resolve).on('error', reject).end(JSON.stringify(body));
    });
    await text(response);
    return response.statusCode ?? 0;
  }

  close(): void {
    this.agent.destroy();
  }
}
