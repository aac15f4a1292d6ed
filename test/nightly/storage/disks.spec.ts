import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DiskSpace } from '../../../src/storage/disk-space.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { StorageUnavailableError } from '../../../src/storage/storage-errors.js';
import { contentOf, MIB, newName, sourceOf } from '../../shared/storage-cases.js';
import { type FileHost, serveFile, startFileHost } from '../../support/file-host.js';
import { fromSource } from '../../support/from-source.js';
import { sampleVideo } from '../../support/sample-video.js';

/** What only Linux can show: a small file system in memory, open handles in `/proc`, and a disk that fails. */
const run = promisify(execFile);
const UNSHARE = '/usr/bin/unshare';
let folder: string;
let host: FileHost;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haulbridge-disks-'));
  host = await startFileHost();
});
afterAll(async () => {
  await host.stop();
  await rm(folder, { recursive: true });
});

/** Runs a script, in a name space in which an ordinary user may mount, on a file system of its own, with its root as the first argument. Returns what it prints. */
async function onTmpfs(mib: number, script: string, args: readonly string[]): Promise<unknown> {
  const child = fromSource(`test/nightly/storage/${script}`);
  const mount = `mount -t tmpfs -o size=${mib}m none "$1" && shift && exec "$@"`;
  const command = ['-rm', 'sh', '-c', mount, 'sh', folder, process.execPath, ...child, folder, ...args];
  return JSON.parse((await run(UNSHARE, command)).stdout);
}

describe('a disk', () => {
  test('that is full stops a download, frees its space, and stores a later one', async () => {
    const body = sampleVideo(12 * MIB);
    const seven = sampleVideo(7 * MIB);
    host.answer((req, res) => {
      if (req.url?.startsWith('/small') === true) return serveFile(sampleVideo(3 * MIB))(req, res);
      if (req.url?.startsWith('/breaking') === true)
        return serveFile(seven, {
          etag: '"v1"',
          ...(req.headers.range === undefined ? { breakAfter: 4 * MIB } : {}),
        })(req, res);
      res.flushHeaders(); // Without its length, so that it is not refused at once.
      res.end(body);
    });
    const links = ['/endless/', '/breaking/', '/small/'].map((path) => host.link.replace('/clips/', path));
    expect(await onTmpfs(16, 'full-disk-child.mjs', [...links, newName()])).toEqual([
      ['full', 16],
      ['retryable', 12],
      ['full', 13],
      ['stored', 13],
    ]);
  });

  test('with room for five of sixteen downloads stores five, and fetches nothing of the others', async () => {
    host.answer(serveFile(sampleVideo(10 * MIB)));
    // 104 MiB, of which videos leave 48.
    const ends = await onTmpfs(104, 'crowded-disk-child.mjs', [host.link, '16']);
    expect(ends).toEqual({ stored: 5, full: 11, receivedMib: 50 });
  });

  test('that opens a file but cannot read it is reported, and no handle stays open', async () => {
    const root = await mkdtemp(join(folder, 'dying-'));
    const storage = await openStorage(`file:${root}`);
    const name = newName();
    await storage.store(name, sourceOf(Buffer.from('x')));
    const path = join(root, name);
    await rm(path);
    await symlink('/proc/self/mem', path);
    const failed = storage.read(relative(root, path));
    await expect(failed).rejects.toThrow(StorageUnavailableError);
    await expect(failed).rejects.toMatchObject({ trouble: 'failed', message: expect.stringContaining('EIO') });
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    expect(open.filter((target) => target.endsWith('/mem'))).toEqual([]);
  });

  // Node.js ends a process that collects an open file handle. Only /proc shows which handles are open.
  test('that fails while a draft is published, created or opened leaves no open handle', async () => {
    const root = await mkdtemp(join(tmpdir(), 'haulbridge-dying-'));
    try {
      const child = fromSource('test/nightly/storage/failing-disk-child.mjs');
      const { stdout } = await run(process.execPath, [...child, root, newName()]);
      expect(JSON.parse(stdout)).toEqual({
        publishing: ['failed', 0, 0],
        creating: ['failed', 0, 0],
        // The bytes are kept for a later attempt.
        opening: ['failed', 0, 1],
      });
    } finally {
      await rm(root, { recursive: true });
    }
  });

  // Source: `videos/recordings` was a mount of its own: EXDEV, and every file was fetched again and again.
  test('that is another one than that of the drafts takes files as a whole', async () => {
    const [disk, other] = [await mkdtemp(join(folder, 'disk-')), await mkdtemp('/dev/shm/haulbridge-other-')];
    try {
      await symlink(other, join(disk, 'recordings'));
      const storage = await openStorage(`file:${disk}`);
      const [name, body] = [newName(), randomBytes(2 * MIB)];
      for (const content of [Buffer.from('an earlier file'), body]) await storage.store(name, sourceOf(content));
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      expect(await readdir(dirname(join(disk, name)))).toEqual([basename(name)]);
      expect(await readdir(join(disk, '.partial'))).toEqual([]);
      await storage.delete(name);
      expect(await storage.stat(name)).toBeUndefined();
    } finally {
      await rm(other, { recursive: true });
    }
  });

  // Source: a mounted bucket reports a size of 0: "the disk is full".
  test('whose file system has no size is not full', async () => {
    const space = new DiskSpace('/proc');
    await expect(space.reserve(MIB)).resolves.toBeDefined();
  });
});
