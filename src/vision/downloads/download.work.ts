import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { ENV, type SettledEnv } from '../../config/env.js';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { FetchSteps } from './fetch-steps.js';
import { DOWNLOADS, RECORDING_COLUMNS, type RecordingRow } from './recording-row.js';

/**
 * A chunk that is claimed with a link is being downloaded, by the same statement. A clip is not: the part that it
 * belongs to moves with it.
 */
const BEGUN = {
  status: `CASE WHEN t.link IS NULL OR t.part_id IS NOT NULL THEN t.status ELSE 'downloading' END`,
  updated_at: 'now()',
};

/** Fetches recordings before their links die: the earliest end first (decision 47). */
@Injectable()
export class DownloadWork implements OnModuleInit {
  constructor(
    private readonly jobs: JobsService,
    private readonly steps: FetchSteps,
    @Inject(ENV) private readonly env: SettledEnv,
  ) {}

  onModuleInit(): void {
    this.jobs.register<RecordingRow>({
      name: DOWNLOADS,
      table: 'recordings',
      key: { hauler_id: 'uuid', id: 'uuid' },
      columns: RECORDING_COLUMNS,
      order: ['fetch_by'],
      claimed: BEGUN,
      group: { by: 'connection_id', concurrency: this.env.DOWNLOAD_CONCURRENCY_PER_CONNECTION },
      concurrency: this.env.DOWNLOAD_CONCURRENCY,
      backoff: { firstMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
      // Otherwise each due row would be claimed, moved and tried over and over while the storage is full.
      mayClaim: () => !this.steps.paused,
      run: (run) => this.fetch(run),
    });
  }

  private async fetch(run: Run<RecordingRow>): Promise<Next> {
    const { row } = run;
    // Before all else: a file that is there is stored, whatever has become of its link or of the room meanwhile.
    if (await this.steps.storePublished(run)) return 'done';
    // It may have begun since this row was claimed.
    await this.steps.heedPause(run);
    if (row.link === null) return this.steps.relink(run);
    if (row.expires_at !== null && row.expires_at.getTime() <= Date.now()) {
      return this.steps.replaceLink(run, 'The link had expired before the file could be fetched.');
    }
    return this.steps.download(run, row.link);
  }
}
