import { setTimeout as delay } from 'node:timers/promises';

/** The partner's view of one sent element: its id once it was acknowledged. */
export interface Entry {
  readonly ref: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  id: string | undefined;
}

/** What to send for the nth time. */
export type Make = (n: number) => Omit<Entry, 'id'>;

const HOPELESS_MS = 30_000;

/**
 * A partner that sends things one after the other over several connections, keeps in mind what was acknowledged, and
 * sends again what was not, as decision 16 and 28 let it: the same key or the same name.
 */
export class Ledger {
  readonly entries: Entry[] = [];
  /** Answers that no partner should get, such as a 500. */
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

  /** Sends again what is open until all of it is acknowledged. */
  async settle(url: string): Promise<void> {
    const end = Date.now() + HOPELESS_MS;
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
      // Cut off: nobody knows whether it was kept.
      await delay(5);
    }
  }
}
