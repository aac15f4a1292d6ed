import { setTimeout as delay } from 'node:timers/promises';

/** An element that a partner has sent. Its id is known once it was acknowledged. */
export interface Entry {
  readonly ref: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  id: string | undefined;
}

/** The `n`th element to send. */
export type Make = (n: number) => Omit<Entry, 'id'>;

const SETTLE_TIMEOUT_MS = 30_000;

/**
 * A partner that sends elements over several connections and records which of them were acknowledged. It sends the others
 * again with the same key or the same name (decisions 16 and 28).
 */
export class Ledger {
  readonly entries: Entry[] = [];
  /** Responses that no partner should receive, such as a 500. */
  readonly wrong: string[] = [];
  private running = false;
  private workers: Promise<void>[] = [];

  constructor(
    private readonly make: Make,
    private readonly idOf: (body: Record<string, never>) => string | undefined,
  ) {}

  get acknowledged(): Entry[] {
    return this.entries.filter(({ id }) => id !== undefined);
  }

  get open(): Entry[] {
    return this.entries.filter(({ id }) => id === undefined);
  }

  /** Each worker waits `pauseMs` between its elements. */
  start(url: string, workers: number, pauseMs = 0): void {
    this.running = true;
    this.workers = Array.from({ length: workers }, async () => {
      while (this.running) {
        const entry: Entry = { ...this.make(this.entries.length), id: undefined };
        this.entries.push(entry);
        await this.send(url, entry);
        if (pauseMs > 0) await delay(pauseMs);
      }
    });
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.workers);
  }

  /** Sends open elements again until all are acknowledged. */
  async settle(url: string): Promise<void> {
    const end = Date.now() + SETTLE_TIMEOUT_MS;
    while (this.open.length > 0) {
      if (Date.now() > end)
        throw new Error(`${this.open.length} are still not acknowledged, first ${this.open[0]?.ref}`);
      for (const entry of this.open) await this.send(url, entry);
    }
  }

  private async send(url: string, entry: Entry): Promise<void> {
    try {
      const { path, headers, body } = entry;
      const bytes = Buffer.isBuffer(body);
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { ...(bytes ? {} : { 'Content-Type': 'application/json' }), ...headers },
        body: bytes ? body : JSON.stringify(body),
      });
      const text = await response.text();
      const id = response.status === 503 ? undefined : this.idOf(JSON.parse(text) as Record<string, never>);
      if (id !== undefined) entry.id = id;
      else if (response.status === 503) await delay(20);
      else this.wrong.push(`${entry.ref}: ${response.status} ${text}`);
    } catch {
      // The connection broke: the element may be stored.
      await delay(5);
    }
  }
}
