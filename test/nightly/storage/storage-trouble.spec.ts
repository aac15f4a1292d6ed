import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContinuousResponse } from '../../../src/contracts/vision/vision.dto.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { fileFailure, NotStoredError, StorageUnavailableError } from '../../../src/storage/storage-errors.js';
import type { Storage } from '../../../src/storage/storage.js';
import { Downloader } from '../../../src/vision/downloads/downloader.js';
import { append, contentOf, MIB, newName, sha256 as sha256Of, sourceOf } from '../../shared/storage-cases.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type FileHost, serveFile, startFileHost } from '../../support/file-host.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';
import { ResumedDownloads } from '../../support/resumed-downloads.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';
import { sampleVideo } from '../../support/sample-video.js';

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
  test.each(['createDraft', 'store'] as const)('refuses a file that does not fit: %s', async (call) => {
    const storage = await openStorage(`file:${folder}`);
    const size = 1024 ** 5;
    const refused =
      call === 'store'
        ? storage.store(newName(), sourceOf(Buffer.from('x')), size)
        : storage.createDraft(newName(), size);
    await expect(refused).rejects.toMatchObject({
      trouble: 'full',
      message: expect.stringContaining('are free for videos'),
    });
    expect(await readdir(join(folder, '.partial'))).toEqual([]);
  });

  test('converts the error of the system', () => {
    const error = Object.assign(new Error('ENOSPC: /secret/path'), { code: 'ENOSPC', errno: -constants.errno.ENOSPC });
    expect(fileFailure(error)).toMatchObject({
      trouble: 'full',
      message: 'The video storage is full: no space left on device (ENOSPC).',
    });
  });
});

describe('a storage that is unavailable', () => {
  async function expectTrouble(storageUrl: string): Promise<void> {
    const storage = await openStorage(storageUrl);
    host.answer(serveFile(sampleVideo(6 * MIB), { etag: '"v"' }));
    const downloaded = new Downloader(storage, { allowPrivate: true }).download({ url: host.link, name: newName() });
    await expect(downloaded).rejects.toThrow(StorageUnavailableError);
    await expect(downloaded).rejects.toMatchObject({ trouble: 'failed' });
    const health = await storage.check();
    expect(health).toEqual({ writable: false, reason: expect.stringMatching(/^The video storage.* failed: .+\.$/) });
    expect(health.reason).not.toContain(folder);
    storage.close();
  }

  test('reports a folder that cannot be created', async () => {
    await writeFile(join(folder, 'a-file'), '');
    await expectTrouble(`file:${join(folder, 'a-file', 'videos')}`);
  });

  async function stored(storage: Storage): Promise<string> {
    const name = newName();
    await storage.store(name, sourceOf(Buffer.from('x')));
    return name;
  }

  test.each(['no folder', 'an empty folder', 'a file'])('reports a missing mount: %s', async (what) => {
    const root = await mkdtemp(join(folder, 'mount-'));
    const storage = await openStorage(`file:${root}`);
    const name = await stored(storage);
    await rename(root, `${root}.aside`);
    if (what === 'an empty folder') await mkdir(root);
    if (what === 'a file') await writeFile(root, '');
    const failed = storage.read(name);
    await expect(failed).rejects.toThrow(StorageUnavailableError);
    await expect(failed).rejects.toMatchObject({ trouble: 'failed' });
    await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining(folder) });
    await expect(storage.delete(name)).rejects.toThrow(StorageUnavailableError);
    await expect(storage.stat(name)).rejects.toThrow(StorageUnavailableError);
    await expect(storage.list('recordings')[Symbol.asyncIterator]().next()).rejects.toThrow(StorageUnavailableError);
    await expect(stored(storage)).rejects.toMatchObject({ trouble: 'failed' });
    expect(await storage.check()).toMatchObject({ writable: false });
    // A file there would be on the disk below the mount point, and would look like a mounted storage.
    expect(await readdir(root).catch(() => [])).toEqual([]);
    await rm(root, { recursive: true, force: true });
    await rename(`${root}.aside`, root);
    (await storage.read(name)).destroy();
    (await storage.read(await stored(storage))).destroy();
  });

  test('starts again without its lost files after an admin created the folder', async () => {
    const root = await mkdtemp(join(folder, 'mount-'));
    const storage = await openStorage(`file:${root}`);
    const name = await stored(storage);
    for (const entry of await readdir(root)) await rm(join(root, entry), { recursive: true });
    expect(await storage.check()).toMatchObject({
      reason: expect.stringContaining('create an empty folder "recordings" in it'),
    });
    await mkdir(join(root, 'recordings'));
    expect(await storage.check()).toEqual({ writable: true });
    await expect(storage.read(name)).rejects.toThrow(NotStoredError);
    (await storage.read(await stored(storage))).destroy();
  });

  test('reports a mount that disappears during a write, and creates nothing in its place', async () => {
    const root = await mkdtemp(join(folder, 'mount-'));
    const storage = await openStorage(`file:${root}`);
    const draft = await storage.createDraft(newName());
    await append(draft, Buffer.from('x'));
    await rename(root, `${root}.aside`);
    await mkdir(root);
    await expect(draft.publish()).rejects.toThrow(StorageUnavailableError);
    expect(await readdir(root)).toEqual([]);
    await draft.discard().catch(() => undefined);
  });

  /** Two ways in which files cannot be published, and the end of each. */
  const outages: Record<string, () => Promise<{ storage: Storage; begin(): unknown; end(): unknown }>> = {
    'in files': async () => {
      const root = await mkdtemp(join(folder, 'blocked-'));
      const inTheWay = join(root, 'recordings');
      const storage = await openStorage(`file:${root}`);
      return { storage, begin: () => writeFile(inTheWay, ''), end: () => rm(inTheWay) };
    },
    'in S3': async () => {
      const { directory } = server;
      const storage = await openStorage(server.storageUrl('outage'), { spool: await mkdtemp(join(folder, 'spool-')) });
      const begin = () => rename(directory, `${directory}.aside`);
      return { storage, begin, end: () => rename(`${directory}.aside`, directory) };
    },
  };
  const large = sampleVideo(3 * MIB);
  const answers: [string, Parameters<typeof serveFile>][] = [
    ['a file that could be resumed', [large, { etag: '"v"' }]],
    ['a small file without a validator', [sampleVideo(20_000)]],
    ['a file without its length', [large, { length: false }]],
    ['a file of which an earlier attempt has a part', [large, { etag: '"v"', breakAfter: 2 * MIB }]],
  ];

  test.each(Object.keys(outages).flatMap((where) => answers.map(([what, answer]) => ({ where, what, answer }))))(
    'is published $where without another download: $what',
    async ({ where, answer: [body, options = {}] }) => {
      const outage = await (outages[where]?.() ?? Promise.reject(new Error(where)));
      const file = new ResumedDownloads(outage.storage, newName());
      const download = (url: string | undefined = host.link) => file.download({ url });
      host.answer(serveFile(body, options));
      if (options.breakAfter !== undefined) await expect(download()).rejects.toMatchObject({ kind: 'retryable' });
      host.answer(serveFile(body, { ...options, breakAfter: undefined }));
      await outage.begin();
      await expect(download()).rejects.toMatchObject({ trouble: 'failed' });
      const asked = host.asked.length;
      // The link may have expired meanwhile.
      await expect(file.download({ url: undefined })).rejects.toMatchObject({ trouble: 'failed' });
      await outage.end();
      expect(await file.download({ url: undefined })).toMatchObject({
        size: body.length,
        sha256: sha256Of(body),
        resumedFrom: body.length,
      });
      expect(host.asked).toHaveLength(asked);
      expect((await contentOf(outage.storage, file.name)).equals(body)).toBe(true);
      outage.storage.close();
    },
  );

  test('has lost the bytes of a received file: it is downloaded again', async () => {
    const root = await mkdtemp(join(folder, 'lost-'));
    const file = new ResumedDownloads(await openStorage(`file:${root}`), newName());
    file.point = { id: 'gone.part', bytes: 9, total: 9, validator: '' };
    await expect(file.download({ url: undefined })).rejects.toMatchObject({ kind: 'link-refused' });
    expect(file.point).toBeUndefined();
    host.answer(serveFile(large));
    expect(await file.download({ url: host.link })).toMatchObject({ resumedFrom: 0, sha256: sha256Of(large) });
  });

  test('reports a missing bucket, and refused credentials', async () => {
    const server = await startS3Server();
    const storage = await openStorage(server.storageUrl('x'));
    const name = await stored(storage);
    await rename(server.directory, `${server.directory}.aside`);
    await expect(storage.read(name)).rejects.toThrow(StorageUnavailableError);
    await expect(storage.stat(name)).rejects.toThrow('NoSuchBucket');
    await expect(storage.delete(name)).rejects.toThrow(StorageUnavailableError);
    await expect(storage.list('recordings')[Symbol.asyncIterator]().next()).rejects.toThrow(StorageUnavailableError);
    await expect(stored(storage)).rejects.toThrow(StorageUnavailableError);
    await rename(`${server.directory}.aside`, server.directory);
    (await storage.read(name)).destroy();
    storage.close();

    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'nobody' });
    const refused = await openStorage(server.storageUrl('x'));
    await expect(refused.read(name)).rejects.toThrow(StorageUnavailableError);
    await expect(stored(refused)).rejects.toThrow(StorageUnavailableError);
    refused.close();
    Object.assign(process.env, server.credentials);
    await server.stop();
  });

  test('reports an S3 server that is away, and one without the bucket', async () => {
    const server = await startS3Server();
    await expectTrouble(server.storageUrl('x').replace('s3://videos', 's3://elsewhere'));
    await server.stop();
    await expectTrouble(server.storageUrl('x'));
  });
});

let server: S3Server;
let spool: string;
let storage: Storage;
let service: TestApp;
beforeAll(async () => {
  server = await startS3Server();
  spool = await mkdtemp(join(tmpdir(), 'haulbridge-spool-'));
  storage = await openStorage(server.storageUrl('fleet/video'), { spool });
  service = await startTestApp({ env: { STORAGE_URL: server.storageUrl('fleet') } });
});
afterAll(async () => {
  await service.close();
  storage.close();
  await rm(spool, { recursive: true });
  await server.stop();
});

test('while the S3 server is silent, every call fails within 10 s, playback and upload with 503 and Retry-After', async () => {
  const name = newName();
  await storage.store(name, sourceOf(Buffer.from('x')));
  expect((await upload(service, 0)).status).toBe(201);
  const { key } = await issueKey(service, ['vision']);
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(1) });
  const path = `/video-platform/v1/videos/continuous?${query.toString()}`;
  const { body } = await service.call<ContinuousResponse>('GET', path, { headers: { 'API-KEY': key } });
  const { downloadUrl } = body.data.recordings![0]!;
  server.suspend();
  const started = Date.now();
  const [[played, uploaded], results] = await Promise.all([
    Promise.all([fetch(downloadUrl), upload(service, 1)]),
    Promise.allSettled([
      storage.read(name),
      storage.stat(name),
      storage.store(newName(), sourceOf(randomBytes(9 * MIB))),
      storage.delete(name),
      storage.list('recordings')[Symbol.asyncIterator]().next(),
    ]),
  ]).finally(() => server.resume());
  expect(Date.now() - started).toBeLessThan(10_000);
  expect([played.status, played.headers.get('retry-after')]).toEqual([503, '5']);
  expect([uploaded.status, uploaded.headers.get('retry-after')]).toEqual([503, '5']);
  const failed = { status: 'rejected', reason: expect.objectContaining({ trouble: 'failed' }) };
  expect(results).toEqual(results.map(() => failed));
  await storage.store(name, sourceOf(Buffer.from('y')));
  expect((await contentOf(storage, name)).toString()).toBe('y');
  expect((await upload(service, 1)).status).toBe(201);
  expect((await (await fetch(downloadUrl)).arrayBuffer()).byteLength).toBe(demoVideo(0).length);
}, 20_000);
