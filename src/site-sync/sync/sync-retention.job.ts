import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { SyncRunsRepository } from './sync-runs.repository.js';

const INTERVAL_MS = 60_000;

/** Ends abandoned runs and deletes old ones. Several instances may do it at the same time. */
@Injectable()
export class SyncRetention {
  constructor(private readonly runs: SyncRunsRepository) {}

  @Interval('synchronisation runs', INTERVAL_MS)
  async sweep(): Promise<void> {
    await this.runs.endAbandoned();
    await this.runs.deleteOld();
  }
}
