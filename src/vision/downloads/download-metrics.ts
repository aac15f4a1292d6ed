import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Database } from '../../core/database/database.js';
import { Metrics } from '../../core/observability/metrics.js';
import { countDownloads, type DownloadCounts } from './download.repository.js';

/** If the database takes longer, the other metrics are returned without these. */
const TIMEOUT_MS = 3_000;

/** The state of all downloads, the same on every instance. The metrics are absent while the database does not answer. */
@Injectable()
export class DownloadMetrics {
  #reading: Promise<DownloadCounts | undefined> | undefined;

  constructor(
    private readonly database: Database,
    metrics: Metrics,
  ) {
    const registers = [metrics.registry];
    const atRisk = new Gauge({
      name: 'vision_downloads_at_risk',
      help: 'Recordings that wait for their download, and whose links expire within 10 minutes or have expired, of the 10,000 most urgent ones of each connection',
      registers,
      collect: async () => {
        const counts = await this.read();
        if (counts === undefined) atRisk.remove();
        else atRisk.set(counts.atRisk);
      },
    });
    const downloads = new Gauge({
      name: 'vision_downloads',
      help: 'Recordings that wait for their download, or are downloaded (also while their host has sent nothing); at most 100,000 are counted',
      labelNames: ['state'],
      registers,
      collect: async () => {
        const counts = await this.read();
        downloads.reset();
        if (counts === undefined) return;
        downloads.set({ state: 'waiting' }, counts.waiting);
        downloads.set({ state: 'downloading' }, counts.downloading);
      },
    });
  }

  /** Both gauges share one reading. A failure must not fail the other metrics. */
  private read(): Promise<DownloadCounts | undefined> {
    this.#reading ??= Promise.race([countDownloads(this.database), delay(TIMEOUT_MS, undefined, { ref: false })])
      .catch(() => undefined)
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }
}
