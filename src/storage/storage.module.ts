import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { ENV, type Env } from '../config/env.js';
import { createDownloader } from './download/downloader.js';
import { DOWNLOADER } from './download/download-order.js';
import { Leftovers } from './leftovers.js';
import { openStorage } from './open-storage.js';
import { STORAGE, type Storage } from './storage.js';

/** Provides `STORAGE` and `DOWNLOADER`; needs `ENV` from a global module. */
@Module({
  providers: [
    Leftovers,
    { provide: STORAGE, inject: [ENV], useFactory: (env: Env) => openStorage(env.STORAGE_URL) },
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
