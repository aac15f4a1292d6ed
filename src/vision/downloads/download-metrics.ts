import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { Metrics } from '../../observability/metrics.js';
import { countDownloads, type DownloadCounts, findWaiting, type WaitingFile } from './download.repository.js';

/** Assumed duration of one download before the first one was finished. */
const DEFAULT_FILE_MS = 5_000;
/** If the database takes longer, the other metrics are returned without these. */
const TIMEOUT_MS = 3_000;

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

interface DownloadState extends DownloadCounts {
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
    const counts = await countDownloads(this.dataSource);
    const rate = {
      fileMs: counts.file_ms ?? DEFAULT_FILE_MS,
      perConnection: this.env.DOWNLOAD_CONCURRENCY_PER_CONNECTION,
      inAll: this.env.DOWNLOAD_CONCURRENCY,
    };
    return { ...counts, atRisk: countAtRisk(await findWaiting(this.dataSource), rate, Date.now()) };
  }
}
