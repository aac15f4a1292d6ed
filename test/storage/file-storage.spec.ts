import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { openStorage } from '../../src/storage/open-storage.js';
import { readPartState } from '../../src/storage/part-state.js';
import type { Storage } from '../../src/storage/storage.js';
import { partialOf } from '../../src/storage/storage-name.js';
import { downloadCases, waitingDownloadCases } from '../shared/download-cases.js';
import { storageCases } from '../shared/storage-cases.js';

let roots: [main: string, beside: string];
let storages: [main: Storage, beside: Storage];
// Not within `describe`: what runs beside all others does not wait for that.
beforeAll(async () => {
  const root = await mkdtemp(join(tmpdir(), 'haulbridge files %20#?'));
  roots = [root, await mkdtemp(join(tmpdir(), 'haulbridge files %20#?'))];
  storages = [await openStorage(`file:${roots[0]}`), await openStorage(`file:${roots[1]}`)];
});
afterAll(() => Promise.all(roots.map((root) => rm(root, { recursive: true }))));

const given = (which: 0 | 1) => ({
  storage: storages[which],
  leftovers: (): Promise<string[]> => readdir(join(roots[which], '.partial')).catch(() => []),
});

describe('files', () => {
  storageCases(() => given(0));
  describe('downloads', () => {
    downloadCases(() => given(0));
    waitingDownloadCases(() => ({
      ...given(1),
      storageUrl: `file:${roots[1]}`,
      kept: async (name) => (await readPartState(join(roots[1], partialOf(name))))?.length ?? 0,
    }));
  });
});
