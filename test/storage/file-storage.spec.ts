import { appendFile, mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../src/storage/open-storage.js';
import { partsIn, readPartState } from '../../src/storage/part-state.js';
import type { Storage } from '../../src/storage/storage.js';
import { partialOf } from '../../src/storage/storage-name.js';
import { downloadCases, waitingDownloadCases } from '../shared/download-cases.js';
import { contentOf, newName, sha256, storageCases } from '../shared/storage-cases.js';

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

  test('what others have put among the files is not listed', async () => {
    const [storage] = storages;
    const name = newName();
    const writer = await storage.writer(name);
    await writer.begin();
    await writer.publish();
    await writeFile(join(roots[0], dirname(name), '.DS_Store'), 'x');
    await writeFile(join(roots[0], 'recordings/README'), 'x');
    const listed: string[] = [];
    for await (const file of storage.list('recordings')) listed.push(file.name);
    expect(listed).toContain(name);
    expect(listed.filter((found) => !found.endsWith('.mp4'))).toEqual([]);
  });

  test('a sweep takes a folder for as new as what is in it, and takes a probe along', async () => {
    const [storage, name] = [storages[0], newName()];
    const half = await storage.writer(name);
    await half.begin({ validator: '"v"', total: 2 });
    await half.append(Buffer.from('x'));
    await half.suspend();
    const probe = join(roots[0], '.partial/.probe-0');
    await writeFile(probe, 'probe');
    const long = new Date(Date.now() - 3_600_000);
    for (const path of [probe, join(roots[0], partialOf(name))]) await utimes(path, long, long);
    expect(await storage.sweep(60_000)).toBe(1);
    expect(await readdir(join(roots[0], '.partial'))).toEqual([basename(partialOf(name))]);
    await (await storage.writer(name)).discard();
  });

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
      expect(await writer.publish()).toEqual({ size: 4, sha256: sha256(Buffer.from('abcd')) });
      expect(String(await contentOf(storages[0], name))).toBe('abcd');
    });

    test('is thrown away where nothing tells of it, too', async () => {
      await rm(`${await partPath()}.json`);
      await (await storages[0].writer(name)).discard();
      expect(await readdir(folder).catch(() => [])).toEqual([]);
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

    const state = { length: 3, memo: {} };
    test.each<[string, boolean]>([
      [JSON.stringify(state), true],
      [JSON.stringify({ ...state, length: undefined }), false],
      [JSON.stringify({ ...state, length: '3' }), false],
      [JSON.stringify({ ...state, memo: undefined }), false],
      [JSON.stringify({ ...state, memo: 'x' }), false],
      [JSON.stringify(state).slice(0, -1), false],
      ['null', false],
      ['', false],
    ])('and tells of it by %s: %s', async (text, understood) => {
      const path = await partPath();
      await writeFile(`${path}.json`, text);
      expect(await readPartState(folder, basename(path))).toEqual(understood ? state : undefined);
    });
  });

  describe('downloads', () => {
    downloadCases(() => given(0));
    waitingDownloadCases(() => ({
      ...given(1),
      storageUrl: `file:${roots[1]}`,
      kept: async (name) => {
        const folder = join(roots[1], partialOf(name));
        const [part = ''] = await partsIn(folder);
        return (await readPartState(folder, part))?.length ?? 0;
      },
    }));
  });
});
