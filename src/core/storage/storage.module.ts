import { join } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ENV, type Env } from '../config/env.js';
import { Database } from '../database/database.js';
import { Sweep } from '../database/sweep.js';
import { openStorage } from './open-storage.js';
import { knownRoots } from './inventory.repository.js';
import { STORAGE, type Storage } from './storage.js';

const SWEEP_INTERVAL_MS = 3_600_000;
/** A draft that was not touched for this long has no owner: a killed download, upload or clip left it. */
const MAX_DRAFT_AGE_MS = 2 * 86_400_000;

/** Removes the drafts that killed processes left. */
@Injectable()
export class DraftSweep implements BeforeApplicationShutdown {
  private readonly drafts = new Sweep(() => this.storage.sweep(MAX_DRAFT_AGE_MS));

  constructor(@Inject(STORAGE) private readonly storage: Storage) {}

  /** Returns how many drafts were removed. */
  @Interval('storage drafts', SWEEP_INTERVAL_MS)
  sweep(): Promise<number> {
    return this.drafts.run();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.drafts.stop();
  }
}

/** Provides `STORAGE`; needs `ENV` and the `Database` from global modules. */
@Module({
  providers: [
    DraftSweep,
    {
      provide: STORAGE,
      inject: [ENV, Database],
      useFactory: (env: Env, database: Database) =>
        openStorage(env.STORAGE_URL, { spool: join(env.DATA_DIR, 'spool'), roots: knownRoots(database) }),
    },
  ],
  exports: [STORAGE],
})
export class StorageModule implements OnApplicationShutdown {
  constructor(@Inject(STORAGE) private readonly storage: Storage) {}

  onApplicationShutdown(): void {
    this.storage.close();
  }
}
