import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { ENV, type SettledEnv } from '../../config/env.js';
import { Metrics } from '../../observability/metrics.js';
import { atRisk, type Waiting } from './at-risk.js';

/** More are not looked at: the earliest ends are what is at risk. */
const MOST_WAITING = 20_000;
/** Before anything was fetched. */
const GUESSED_MS = 5_000;

/** The other metrics are told without these where the database takes longer. */
const PATIENCE_MS = 3_000;

interface StateRow {
  readonly waiting: number;
  readonly downloading: number;
  readonly file_ms: number | null;
}

interface Standing extends StateRow {
  readonly risk: number;
}

/** How downloads stand, as the metrics are read; the same on every instance. Absent while the database does not answer. */
@Injectable()
export class DownloadMetrics {
  #reading: Promise<Standing | undefined> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: SettledEnv,
    metrics: Metrics,
  ) {
    const registers = [metrics.registry];
    const risk = new Gauge({
      name: 'vision_downloads_at_risk',
      help: 'Recordings whose links will die before they are fetched, as things go',
      registers,
      collect: async () => {
        const standing = await this.read();
        if (standing === undefined) risk.remove();
        else risk.set(standing.risk);
      },
    });
    const state = new Gauge({
      name: 'vision_downloads',
      help: 'Recordings that wait for their download, or are downloaded just now',
      labelNames: ['state'],
      registers,
      collect: async () => {
        const standing = await this.read();
        state.reset();
        if (standing === undefined) return;
        state.set({ state: 'waiting' }, standing.waiting);
        state.set({ state: 'downloading' }, standing.downloading);
      },
    });
  }

  /** Both gauges are collected at once, and read once. A failure must not take the other metrics along. */
  private read(): Promise<Standing | undefined> {
    this.#reading ??= Promise.race([this.standing(), delay(PATIENCE_MS, undefined, { ref: false })])
      .catch(() => undefined)
      .finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  private async standing(): Promise<Standing> {
    const state = await this.state();
    return { ...state, risk: await this.atRisk(state.file_ms ?? GUESSED_MS) };
  }

  private async atRisk(fileMs: number): Promise<number> {
    const rows = await this.dataSource.query<{ connection_id: string; expires_at: Date | null }[]>(
      `SELECT connection_id, expires_at FROM recordings WHERE due_at IS NOT NULL AND status = 'available'
       ORDER BY fetch_by LIMIT ${MOST_WAITING}`,
    );
    const waiting: Waiting[] = rows.map(({ connection_id, expires_at }) => ({
      connectionId: connection_id,
      expiresAt: expires_at?.getTime(),
    }));
    const pace = {
      fileMs,
      perConnection: this.env.DOWNLOAD_CONCURRENCY_PER_CONNECTION,
      inAll: this.env.DOWNLOAD_CONCURRENCY,
    };
    return atRisk(waiting, pace, Date.now());
  }

  private async state(): Promise<StateRow> {
    const [row] = await this.dataSource.query<[StateRow]>(
      `SELECT count(*) FILTER (WHERE status = 'available')::int AS waiting,
         count(*) FILTER (WHERE status = 'downloading')::int AS downloading,
         (SELECT avg(fetch_ms)::float8 FROM (SELECT fetch_ms FROM recordings WHERE status = 'stored'
          ORDER BY stored_at DESC LIMIT 200) AS latest) AS file_ms
       FROM recordings WHERE due_at IS NOT NULL`,
    );
    return row;
  }
}
