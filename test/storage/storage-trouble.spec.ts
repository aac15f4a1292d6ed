import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDownloader } from '../../src/storage/download/downloader.js';
import { fileFailure, writeAll } from '../../src/storage/file-durability.js';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { NotStored, StorageUnavailable } from '../../src/storage/storage-errors.js';
import { contentOf, MIB, newName, sha256 as sha256Of } from '../shared/storage-cases.js';
import { type FileHost, serveFile, startFileHost } from '../support/file-host.js';
import { startS3Server } from '../support/s3-server.js';

const run = promisify(execFile);
const UNSHARE = '/usr/bin/unshare';
let folder: string;
let host: FileHost;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haulbridge-trouble-'));
  host = await startFileHost();
});
afterAll(async () => {
  await host.stop();
  await rm(folder, { recursive: true });
});

describe('a full disk', () => {
  test('is told as full, as the system reports it', async () => {
    const handle = await open('/dev/full', 'w');
    const failed: unknown = await writeAll(handle, [Buffer.from('x')], 0).catch(fileFailure);
    await handle.close();
    expect(failed).toBeInstanceOf(StorageUnavailable);
    expect(failed).toMatchObject({ trouble: 'full', message: expect.stringContaining('no space left') });
  });

  test.each([true, false])('is foreseen where the size is known (resume: %s)', async (resume) => {
    const storage = await openStorage(`file:${folder}`);
    const writer = await storage.writer(newName(), { resume });
    await expect(writer.begin(undefined, 1024 ** 5)).rejects.toMatchObject({ trouble: 'full' });
    await writer.begin(undefined, 1);
    await writer.discard();
  });

  // Only a file system of its own gets full honestly; Linux lets an ordinary user mount one in a name space of its own.
  const mayMount = spawnSync(UNSHARE, ['-rm', 'true']).status === 0;
  (mayMount ? test : test.skip)('stops a download, gives the space back, and a later one is stored', async () => {
    const body = randomBytes(12 * MIB);
    const kept = { etag: '"v1"' };
    host.answer((req, res) => {
      if (req.url?.startsWith('/small') === true) return serveFile(body.subarray(0, 3 * MIB))(req, res);
      if (req.url?.startsWith('/breaking') === true)
        return serveFile(body.subarray(0, 7 * MIB), {
          ...kept,
          ...(req.headers.range === undefined ? { breakAfter: 4 * MIB } : {}),
        })(req, res);
      res.flushHeaders(); // of unknown length, so that nothing can be foreseen
      res.end(body);
    });
    const links = ['/endless/', '/breaking/', '/small/'].map((path) => host.link.replace('/clips/', path));
    const child = join(import.meta.dirname, '../support/full-disk-child.mjs');
    const script = 'mount -t tmpfs -o size=8m none "$1" && shift && exec "$@"';
    const args = ['sh', folder, process.execPath, child, folder, ...links, newName()];
    const { stdout } = await run(UNSHARE, ['-rm', 'sh', '-c', script, ...args]);
    expect(JSON.parse(stdout)).toEqual([
      ['full', 8],
      ['retryable', 3],
      ['full', 6],
      ['stored', 5],
    ]);
  });
});

test('a download whose place another writer has taken is worth another try, and spoils nothing', async () => {
  const storage = await openStorage(`file:${folder}`);
  const name = newName();
  const { promise: received, resolve: told } = Promise.withResolvers<void>();
  const { promise: taken, resolve: goOn } = Promise.withResolvers<void>();
  host.answer((_, res) => {
    res.writeHead(200).write('late');
    void taken.then(() => res.end('late'));
  });
  const late = createDownloader(storage, { allowPrivate: true }).download({
    url: host.link,
    name,
    onReceived: () => told(),
  });
  const failed = expect(late).rejects.toMatchObject({ kind: 'retryable', message: expect.stringMatching(/^Another/) });
  await received;
  const successor = await storage.writer(name, { resume: false });
  await successor.begin();
  goOn();
  await failed;
  await successor.append(Buffer.from('new'));
  await successor.publish();
  expect(String(await contentOf(storage, name))).toBe('new');
});

describe('a storage that is away', () => {
  async function expectTrouble(storageUrl: string): Promise<void> {
    const storage = await openStorage(storageUrl);
    host.answer(serveFile(randomBytes(6 * MIB), { etag: '"v"' }));
    const downloaded = createDownloader(storage, { allowPrivate: true }).download({ url: host.link, name: newName() });
    await expect(downloaded).rejects.toThrow(StorageUnavailable);
    await expect(downloaded).rejects.toMatchObject({ trouble: 'failed' });
    const health = await storage.check();
    expect(health).toEqual({ writable: false, reason: expect.stringMatching(/^The video storage.* failed: .+\.$/) });
    expect(health.reason).not.toContain(folder);
    storage.close();
  }

  test('a folder that cannot be made', async () => {
    await writeFile(join(folder, 'a-file'), '');
    await expectTrouble(`file:${join(folder, 'a-file', 'videos')}`);
  });

  async function stored(storage: Storage): Promise<string> {
    const name = newName();
    const writer = await storage.writer(name);
    await writer.begin();
    await writer.append(Buffer.from('x'));
    await writer.publish();
    return name;
  }

  test.each(['a missing one', 'an empty one', 'a file'])('a folder in whose place there is %s', async (what) => {
    const root = await mkdtemp(join(folder, 'mount-'));
    const storage = await openStorage(`file:${root}`);
    const name = await stored(storage);
    await rename(root, `${root}.aside`);
    if (what === 'an empty one') await mkdir(root);
    if (what === 'a file') await writeFile(root, '');
    const failed = storage.read(name);
    await expect(failed).rejects.toThrow(StorageUnavailable);
    await expect(failed).rejects.toMatchObject({ trouble: 'failed' });
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining(folder) });
    await expect(storage.delete(name)).rejects.toThrow(StorageUnavailable);
    await expect(storage.stat(name)).rejects.toThrow(StorageUnavailable);
    await expect(storage.list('recordings')[Symbol.asyncIterator]().next()).rejects.toThrow(StorageUnavailable);
    await expect(stored(storage)).rejects.toMatchObject({ trouble: 'failed' });
    expect(await storage.check()).toMatchObject({ writable: false });
    // What was made there would be on the disk below the mount, and make it look like one that is there.
    expect(await readdir(root).catch(() => [])).toEqual([]);
    await rm(root, { recursive: true, force: true });
    await rename(`${root}.aside`, root);
    (await storage.read(name)).destroy();
    (await storage.read(await stored(storage))).destroy();
  });

  test('a folder whose films are lost for good is begun anew where an admin says so', async () => {
    const root = await mkdtemp(join(folder, 'mount-'));
    const storage = await openStorage(`file:${root}`);
    const name = await stored(storage);
    for (const entry of await readdir(root)) await rm(join(root, entry), { recursive: true });
    expect(await storage.check()).toMatchObject({
      reason: expect.stringContaining('make an empty folder in it, recordings'),
    });
    await mkdir(join(root, 'recordings'));
    expect(await storage.check()).toEqual({ writable: true });
    await expect(storage.read(name)).rejects.toThrow(NotStored);
    (await storage.read(await stored(storage))).destroy();
  });

  /** Linux alone has a file that opens, and fails at its first byte as a dying disk does. */
  (process.platform === 'linux' ? test : test.skip)('a file that opens, and cannot be read', async () => {
    const root = await mkdtemp(join(folder, 'dying-'));
    const storage = await openStorage(`file:${root}`);
    const path = join(root, await stored(storage));
    await rm(path);
    await symlink('/proc/self/mem', path);
    const failed = storage.read(relative(root, path));
    await expect(failed).rejects.toThrow(StorageUnavailable);
    await expect(failed).rejects.toMatchObject({ trouble: 'failed', message: expect.stringContaining('EIO') });
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    expect(open.filter((target) => target.endsWith('/mem'))).toEqual([]);
  });

  test('a folder that goes away in the middle: nothing is made in its place, and it is the storage that failed', async () => {
    const root = await mkdtemp(join(folder, 'mount-'));
    const storage = await openStorage(`file:${root}`);
    const writer = await storage.writer(newName());
    await writer.begin();
    await writer.append(Buffer.from('x'));
    await rename(root, `${root}.aside`);
    await mkdir(root);
    await expect(writer.publish()).rejects.toThrow(StorageUnavailable);
    expect(await readdir(root)).toEqual([]);
  });

  test('a file in the place of a folder: what was fetched before is kept', async () => {
    const root = await mkdtemp(join(folder, 'blocked-'));
    const storage = await openStorage(`file:${root}`);
    const [name, body] = [newName(), randomBytes(3 * MIB)];
    const download = () => createDownloader(storage, { allowPrivate: true }).download({ url: host.link, name });
    host.answer(serveFile(body, { etag: '"v"', breakAfter: 2 * MIB }));
    await expect(download()).rejects.toMatchObject({ kind: 'retryable' });
    host.answer(serveFile(body, { etag: '"v"' }));
    await writeFile(join(root, 'recordings'), '');
    await expect(download()).rejects.toMatchObject({ trouble: 'failed' });
    await rm(join(root, 'recordings'));
    const { resumedFrom, sha256 } = await download();
    expect(resumedFrom).toBeGreaterThan(MIB);
    expect(sha256).toBe(sha256Of(body));
  });

  test('a bucket that goes away, and a server that takes the keys no more', async () => {
    const server = await startS3Server();
    const storage = await openStorage(server.storageUrl('x'));
    const name = await stored(storage);
    await rename(server.directory, `${server.directory}.aside`);
    await expect(storage.read(name)).rejects.toThrow(StorageUnavailable);
    await expect(storage.stat(name)).rejects.toThrow('NoSuchBucket');
    await expect(storage.delete(name)).rejects.toThrow(StorageUnavailable);
    await expect(storage.list('recordings')[Symbol.asyncIterator]().next()).rejects.toThrow(StorageUnavailable);
    await expect(stored(storage)).rejects.toThrow(StorageUnavailable);
    await rename(`${server.directory}.aside`, server.directory);
    (await storage.read(name)).destroy();
    storage.close();

    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'nobody' });
    const refused = await openStorage(server.storageUrl('x'));
    await expect(refused.read(name)).rejects.toThrow(StorageUnavailable);
    await expect(stored(refused)).rejects.toThrow(StorageUnavailable);
    refused.close();
    Object.assign(process.env, server.credentials);
    await server.stop();
  });

  test('an S3 server that is gone, and one that has no such bucket', async () => {
    const server = await startS3Server();
    await expectTrouble(server.storageUrl('x').replace('s3://videos', 's3://elsewhere'));
    await server.stop();
    await expectTrouble(server.storageUrl('x'));
  });

  test('an S3 server that goes away in the middle: nothing is published, and it is the storage that failed', async () => {
    const server = await startS3Server();
    const storage = await openStorage(server.storageUrl('x'));
    const writer = await storage.writer(newName());
    await writer.begin({ validator: '"v"', total: 12 * MIB });
    await writer.append(randomBytes(6 * MIB));
    await server.stop();
    await expect(writer.append(randomBytes(6 * MIB)).then(() => writer.publish())).rejects.toThrow(StorageUnavailable);
    await expect(writer.suspend()).rejects.toThrow(StorageUnavailable);
    storage.close();
  });
});
