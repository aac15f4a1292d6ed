import { mkdtemp, readdir, rm, statfs, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { diskReserveBytes } from '../../src/config/disk-reserve.js';
import { DiskSpace } from '../../src/storage/disk-space.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { type Storage, storageName } from '../../src/storage/storage.js';
import { interrupted, MIB, newName, sourceOf, storageCases } from '../shared/storage-cases.js';

let root: string;
let storage: Storage;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'haulbridge files %20#?'));
  storage = await openStorage(`file:${root}`);
});
afterAll(() => rm(root, { recursive: true }));

const drafts = (): Promise<string[]> => readdir(join(root, '.partial')).catch(() => []);

describe('a file storage', () => {
  storageCases(() => ({ storage, leftovers: drafts }));

  test('does not list files that others put among its own', async () => {
    const name = newName();
    await storage.store(name, sourceOf(Buffer.alloc(0)));
    await writeFile(join(root, dirname(name), '.DS_Store'), 'x');
    await writeFile(join(root, 'recordings/README'), 'x');
    const listed: string[] = [];
    for await (const file of storage.list('recordings')) listed.push(file.name);
    expect(listed).toContain(name);
    expect(listed.filter((found) => !found.endsWith('.mp4'))).toEqual([]);
  });

  test('keeps a draft whose folder is old while the draft is new, and sweeps an old probe', async () => {
    const name = newName();
    await interrupted(storage, name, Buffer.from('x'), 2);
    const [folder = ''] = await drafts();
    const probe = join(root, '.partial/.probe-0');
    await writeFile(probe, 'probe');
    const old = new Date(Date.now() - 3_600_000);
    for (const path of [probe, join(root, '.partial', folder)]) await utimes(path, old, old);
    expect(await storage.sweep(60_000)).toBe(1);
    expect(await drafts()).toEqual([folder]);
    await storage.removeDrafts(name);
  });
});

test('names are spread over folders by the end of an id, because its beginning is its time', () => {
  const id = '01990000-0000-7000-8000-0000000000AB';
  expect(storageName('recordings', id)).toBe('recordings/ab/01990000-0000-7000-8000-0000000000ab.mp4');
  expect(() => storageName('recordings', '../../x')).toThrow(TypeError);
  expect(() => storageName('../x', id)).toThrow(TypeError);
});

test.each([
  ['8 MiB', 8, 4],
  ['128 MiB', 128, 48],
  ['4,000 MiB', 4_000, 400],
  ['1 TiB', 1024 ** 2, 1024],
])('on a disk of %s videos leave enough for the database', (_, diskMib, keptMib) => {
  expect(diskReserveBytes(diskMib * MIB)).toBe(keptMib * MIB);
});

test('files that are written at the same time reserve their space together, and give back what they did not use', async () => {
  const { bavail, blocks, bsize } = await statfs(root);
  const each = Math.floor((bavail * bsize - diskReserveBytes(blocks * bsize)) * 0.3);
  const space = new DiskSpace(root);
  const asked = await Promise.allSettled(Array.from({ length: 16 }, () => space.reserve(each)));
  const granted = asked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(granted).toHaveLength(3);
  await expect(space.reserve(each)).rejects.toMatchObject({ trouble: 'full' });
  granted[0]?.release();
  await expect(space.reserve(each)).resolves.toBeDefined();
});
