import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { downloadCases } from '../shared/download-cases.js';
import { storageCases } from '../shared/storage-cases.js';

describe('files', () => {
  let root: string;
  let storage: Storage;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'haulbridge files %20#?'));
    storage = await openStorage(`file:${root}`);
  });
  afterAll(() => rm(root, { recursive: true }));

  const leftovers = (): Promise<string[]> => readdir(join(root, '.partial')).catch(() => []);
  storageCases(() => ({ storage, leftovers }));
  describe('downloads', () => downloadCases(() => ({ storage, leftovers, storageUrl: `file:${root}` })));
});
