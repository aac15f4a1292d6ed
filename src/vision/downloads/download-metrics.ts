import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { Metrics } from '../../observability/metrics.js';

/** Only the earliest links are at risk, so later ones are not read. */
const MAX_WAITING_ROWS = 20_000;
/** Counting more would take longer than the other metrics together. */
const MAX_COUNTED_ROWS = 100_000;
/** Assumed duration of one download before the first one was finished. */
const DEFAULT_FILE_MS = 5_000;
/** If the database takes longer, the other metrics are returned without these. */
const TIMEOUT_MS = 3_000;

interface WaitingFile {
  readonly connectionId: string;
  /** When its link expires, in milliseconds since the epoch; undefined if the link has no expiry. */
  readonly expiresAt: number | undefined;
}

interface DownloadRate {
  /** Milliseconds per file. */
  readonly fileMs: number;
  /** Files at once. */
  readonly perConnection: number;
  readonly inAll: number;
}

/**
 * How many of the waiting files will not be started before their links expire, at the given rate. They are fetched in
 * order of expiry, and each waits for the earlier ones, of its connection and of all. Files whose links have expired count.
 */
export function countAtRisk(
  waiting: readonly WaitingFile[],
  { fileMs, perConnection, inAll }: DownloadRate,
  now: number,
): number {
  const order = [...waiting].sort((a, b) => (a.expiresAt ?? Infinity) - (b.expiresAt ?? Infinity));
  const startedByConnection = new Map<string, number>();
  let started = 0;
  let lost = 0;
  for (const { connectionId, expiresAt } of order) {
    const own = startedByConnection.get(connectionId) ?? 0;
    const waitMs = Math.max(Math.floor(own / perConnection), Math.floor(started / inAll)) * fileMs;
    if (expiresAt !== undefined && now + waitMs >= expiresAt) {
      // It is not started, so no later file waits for it.
      lost += 1;
      continue;
    }
    startedByConnection.set(connectionId, own + 1);
    started += 1;
  }
  return lost;
}

interface StateRow {
  readonly waiting: number;
  readonly downloading: number;
  readonly file_ms: number | null;
}

interface DownloadState extends StateRow {
  readonly atRisk: number;
}

/** The state of all downloads, the same on every instance. The metrics are absent while the database does not answer. */
@Injectable()
export class DownloadMetrics {
  #reading: Promise<DownloadState | undefined> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: ResolvedEnv,
    metrics: Metrics,
  ) {
    const registers = [metrics.registry];
    const atRisk = new Gauge({
      name: 'vision_downloads_at_risk',
      help: 'Recordings whose links will expire before they are fetched, at the current rate',
      registers,
      collect: async () => {
        const state = await this.read();
        if (state === undefined) atRisk.remove();
        else atRisk.set(state.atRisk);
      },
    });
    const downloads = new Gauge({
      name: 'vision_downloads',
      help: 'Recordings that wait for their download (at most 100,000 are counted), or are being downloaded',
      labelNames: ['state'],
      registers,
      collect: async () => {
        const state = await this.read();
        downloads.reset();
        if (state === undefined) return;
        downloads.set({ state: 'waiting' }, state.waiting);
        downloads.set({ state: 'downloading' }, state.downloading);
      },
    });
  }

  /** Both gauges share one reading. A failure must not fail the other metrics. */
  private read(): Promise<DownloadState | undefined> {
    this.#reading ??= Promise.race([this.state(), delay(TIMEOUT_MS, undefined, { ref: false })])
      .catch(() => undefined)
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  private async state(): Promise<DownloadState> {
    const [row] = await this.dataSource.query<[StateRow]>(
      `SELECT (SELECT count(*)::int FROM (SELECT FROM recordings WHERE due_at IS NOT NULL AND leased_until IS NULL
           LIMIT ${MAX_COUNTED_ROWS}) AS waiting) AS waiting,
         (SELECT count(*)::int FROM recordings WHERE leased_until IS NOT NULL AND status = 'downloading') AS downloading,
         (SELECT avg(fetch_ms)::float8 FROM (SELECT fetch_ms FROM recordings WHERE status = 'stored'
          ORDER BY stored_at DESC LIMIT 200) AS latest) AS file_ms`,
    );
    return { ...row, atRisk: await this.atRisk(row.file_ms ?? DEFAULT_FILE_MS) };
  }

  private async atRisk(fileMs: number): Promise<number> {
    const rows = await this.dataSource.query<{ connection_id: string; expires_at: Date | null }[]>(
      `SELECT connection_id, expires_at FROM recordings WHERE due_at IS NOT NULL AND leased_until IS NULL
       ORDER BY fetch_by LIMIT ${MAX_WAITING_ROWS}`,
    );
    const waiting = rows.map((row) => ({
      connectionId: row.connection_id,
      expiresAt: row.expires_at?.getTime(),
    }));
    const rate = {
      fileMs,
      perConnection: this.env.DOWNLOAD_CONCURRENCY_PER_CONNECTION,
      inAll: this.env.DOWNLOAD_CONCURRENCY,
    };
    return countAtRisk(waiting, rate, Date.now());
  }
}
