import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { downloadCases } from '../shared/download-cases.js';
import { storageCases } from '../shared/storage-cases.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';

describe('S3', () => {
  let server: S3Server;
  let storage: Storage;
  beforeAll(async () => {
    server = await startS3Server();
    storage = await openStorage(server.storageUrl('fleet/video'));
  });
  afterAll(async () => {
    storage.close();
    await server.stop();
  });

  const leftovers = (): Promise<string[]> => readdir(join(server.directory, 'fleet/video/.partial')).catch(() => []);
  storageCases(() => ({ storage, leftovers }));
  describe('downloads', () =>
    downloadCases(() => ({ storage, leftovers, storageUrl: server.storageUrl('fleet/video') })));
});
