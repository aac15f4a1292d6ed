import { Socket } from 'node:net';
import pg from 'pg';

/** Between the beginnings of two attempts. They overlap, so that one that hangs delays no other. */
const PAUSE_MS = 250;
/** Long, because on a busy machine an attempt takes seconds. */
const ATTEMPT_MS = 10_000;

interface Outcome {
  readonly ok: boolean;
  readonly text: string;
}

/** One attempt. Times are those of `performance.now()`. */
export interface Sample extends Outcome {
  readonly beganAt: number;
  readonly at: number;
}

/** Repeats an attempt until it is stopped. */
export class Watch {
  readonly samples: Sample[] = [];
  private readonly running = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly attempt: () => Promise<Outcome>) {
    this.timer = setInterval(() => {
      const running = this.sample().finally(() => this.running.delete(running));
      this.running.add(running);
    }, PAUSE_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.running);
  }

  private async sample(): Promise<void> {
    const beganAt = performance.now();
    const outcome = await this.attempt().catch((error: unknown) => ({ ok: false, text: String(error) }));
    this.samples.push({ beganAt, at: performance.now(), ...outcome });
  }
}

/**
 * Whether the path takes writes, by a client that is none of the service: each attempt is a new connection and an insert that
 * is committed. The table must exist.
 */
export const watchPath = (url: string, table: string): Watch =>
  new Watch(async () => {
    const socket = new Socket();
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ATTEMPT_MS, stream: () => socket });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query({ text: `INSERT INTO ${table} DEFAULT VALUES`, query_timeout: ATTEMPT_MS } as pg.QueryConfig);
      return { ok: true, text: '' };
    } finally {
      // A pooler that waits for its server answers no farewell.
      socket.destroy();
    }
  });

/** Whether an instance says that it is ready. */
export const watchReadiness = (url: string): Watch =>
  new Watch(async () => {
    const response = await fetch(`${url}/health/ready`);
    return { ok: response.status === 200, text: `${response.status} ${await response.text()}` };
  });

export interface Outage {
  readonly beganAt: number;
  readonly endedAt: number;
}

/** Attempts in a row that must succeed before the path counts as back: a busy machine fails some at any time. */
const STEADY = 4;

/** An attempt that this process gave up says nothing about the path. PgBouncer ends those that wait after 5 s. */
const isKnown = ({ ok, text }: Sample): boolean => ok || !/timeout expired|Query read timeout/.test(text);

/** From the beginning of the first attempt that failed after `from`, to the first of several successes. Undefined while it lasts. */
export function outageSince(samples: readonly Sample[], from: number): Outage | undefined {
  const later = samples.filter((one) => one.at > from && isKnown(one)).toSorted((a, b) => a.beganAt - b.beganAt);
  const first = later.findIndex(({ ok }) => !ok);
  if (first === -1) return undefined;
  for (let i = first; i + STEADY <= later.length; i++) {
    const row = later.slice(i, i + STEADY);
    if (row.every(({ ok }) => ok))
      return { beganAt: Math.max(from, later[first]?.beganAt ?? 0), endedAt: Math.min(...row.map(({ at }) => at)) };
  }
  return undefined;
}
