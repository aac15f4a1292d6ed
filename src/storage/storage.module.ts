import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type Env } from '../config/env.js';
import { createDownloader } from './download/downloader.js';
import { DOWNLOADER } from './download/download-order.js';
import { knownRoots } from './known-roots.js';
import { Leftovers } from './leftovers.js';
import { openStorage } from './open-storage.js';
import { STORAGE, type Storage } from './storage.js';

/** Provides `STORAGE` and `DOWNLOADER`; needs `ENV` and the `DataSource` from global modules. */
@Module({
  providers: [
    Leftovers,
    {
      provide: STORAGE,
      inject: [ENV, DataSource],
      useFactory: (env: Env, dataSource: DataSource) => openStorage(env.STORAGE_URL, knownRoots(dataSource)),
    },
    {
      provide: DOWNLOADER,
      inject: [STORAGE, ENV],
      useFactory: (storage: Storage, env: Env) =>
        createDownloader(storage, { allowPrivate: env.OUTBOUND_ALLOW_PRIVATE }),
    },
  ],
  exports: [STORAGE, DOWNLOADER],
})
export class StorageModule implements OnApplicationShutdown {
  constructor(@Inject(STORAGE) private readonly storage: Storage) {}

  onApplicationShutdown(): void {
    this.storage.close();
  }
}
