import { appendFile, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../src/storage/open-storage.js';
import { readPartState } from '../../src/storage/part-state.js';
import type { Storage } from '../../src/storage/storage.js';
import { partialOf } from '../../src/storage/storage-name.js';
import { downloadCases, waitingDownloadCases } from '../shared/download-cases.js';
import { contentOf, newName, storageCases } from '../shared/storage-cases.js';

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

  describe('what an earlier attempt has left', () => {
    let name: string;
    let folder: string;
    beforeEach(async () => {
      name = newName();
      folder = join(roots[0], partialOf(name));
      const writer = await storages[0].writer(name);
      await writer.begin({ validator: '"v"', total: 4 });
      await writer.append(Buffer.from('abc'));
      await writer.suspend();
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    const partPath = async () =>
      join(folder, (await readdir(folder)).find((entry) => entry.endsWith('.part')) ?? 'no part');

    test('behind its last checkpoint is cut off', async () => {
      await appendFile(await partPath(), 'anything');
      const writer = await storages[0].writer(name);
      await writer.append(Buffer.from('d'));
      expect(await writer.publish()).toMatchObject({ size: 4 });
      expect(String(await contentOf(storages[0], name))).toBe('abcd');
    });

    test.each<[string, (path: string) => Promise<void>]>([
      ['is gone', (path) => rm(path)],
      ['has fewer bytes than its state tells of', (path) => truncate(path, 2)],
    ])('is nothing where the part %s', async (_, spoil) => {
      await spoil(await partPath());
      const writer = await storages[0].writer(name);
      expect([writer.length, writer.memo]).toEqual([0, undefined]);
      await writer.begin();
      await writer.append(Buffer.from('afresh'));
      expect(await writer.publish()).toMatchObject({ size: 6 });
    });

    const part = '0123456789abcdef.part';
    const state = { part, length: 3, memo: {} };
    test.each<[string, boolean]>([
      [JSON.stringify(state), true],
      [JSON.stringify({ ...state, part: `../${part}` }), false],
      [JSON.stringify({ ...state, part: `${part}.new` }), false],
      [JSON.stringify({ ...state, part: undefined }), false],
      [JSON.stringify({ ...state, length: undefined }), false],
      [JSON.stringify({ ...state, length: '3' }), false],
      [JSON.stringify({ ...state, memo: undefined }), false],
      [JSON.stringify({ ...state, memo: 'x' }), false],
      [JSON.stringify(state).slice(0, -1), false],
      ['null', false],
      ['', false],
    ])('and tells of it by %s: %s', async (text, understood) => {
      await writeFile(join(folder, 'state.json'), text);
      expect(await readPartState(folder)).toEqual(understood ? state : undefined);
    });
  });

  describe('downloads', () => {
    downloadCases(() => given(0));
    waitingDownloadCases(() => ({
      ...given(1),
      storageUrl: `file:${roots[1]}`,
      kept: async (name) => (await readPartState(join(roots[1], partialOf(name))))?.length ?? 0,
    }));
  });
});
