import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ContinuousResponse } from '../../../src/contracts/vision/vision.api.js';
import { knownRoots } from '../../../src/core/storage/inventory.repository.js';
import { openStorage } from '../../../src/core/storage/open-storage.js';
import { StorageUnavailableError } from '../../../src/core/storage/storage-errors.js';
import type { Storage } from '../../../src/core/storage/storage.js';
import { Downloader } from '../../../src/vision/downloads/downloader.js';
import { append, contentOf, MIB, newName, sourceOf } from '../../shared/storage-cases.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type FileHost, serveFile, startFileHost } from '../../support/file-host.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';
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

describe('a storage that is unavailable', () => {
  async function expectTrouble(storageUrl: string, words: string): Promise<void> {
    const storage = await openStorage(storageUrl);
    host.answer(serveFile(sampleVideo(6 * MIB), { etag: '"v"' }));
    const downloaded = new Downloader(storage, { allowPrivate: true }).download({ url: host.link, name: newName() });
    await expect(downloaded).rejects.toThrow(StorageUnavailableError);
    await expect(downloaded).rejects.toMatchObject({ trouble: 'failed' });
    const health = await storage.check();
    expect(health).toEqual({ writable: false, reason: expect.stringContaining(words) });
    expect(health.reason).toMatch(/^The video storage \(S3\) failed: .+\.$/);
    expect(health.reason).not.toContain(folder);
    storage.close();
  }

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

  test('reports an S3 server that is away, and one without the bucket', async () => {
    const server = await startS3Server();
    await expectTrouble(
      server.storageUrl('x').replace('s3://videos', 's3://elsewhere'),
      'no such bucket, see STORAGE_URL',
    );
    await server.stop();
    await expectTrouble(server.storageUrl('x'), 'refuses connections');
  });
});

/** Uploads the recording of a minute that no other test uses, and returns its link. */
async function recorded(service: TestApp, minute: number): Promise<string> {
  expect((await upload(service, minute)).status).toBe(201);
  const { key } = await issueKey(service, ['vision']);
  const times = { startTime: at(minute), endTime: at(minute + 1) };
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, ...times });
  const path = `/video-platform/v1/videos/continuous?${query.toString()}`;
  const { body } = await service.call<ContinuousResponse>('GET', path, { headers: { 'API-KEY': key } });
  expect(body.data.recordings).toHaveLength(1);
  return body.data.recordings![0]!.downloadUrl;
}

describe('a mount that is missing', () => {
  let service: TestApp;
  let root: string;
  beforeAll(async () => {
    service = await startTestApp();
    root = new URL(service.env.STORAGE_URL).pathname;
    expect((await upload(service, 0)).status).toBe(201);
  });
  afterAll(() => service.close());

  test.each([
    ['reference-recordings', 4],
    ['.', 5],
  ])('a video of a storage whose mount is missing is 503 with Retry-After: %s', async (place, minute) => {
    const link = await recorded(service, minute);
    const path = resolve(root, place);
    await rename(path, `${path}.aside`);
    const response = await fetch(link);
    await rename(`${path}.aside`, path);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
  });

  test('a process that starts while the mount is missing creates nothing at its path', async () => {
    await rename(root, `${root}.aside`);
    await mkdir(root);
    const next = await openStorage(service.env.STORAGE_URL, { roots: knownRoots(service.database) });
    expect(await next.check()).toEqual({ writable: false, reason: expect.stringContaining('missing or empty') });
    expect(await readdir(root)).toEqual([]);
    await rmdir(root);
    await rename(`${root}.aside`, root);
    expect(await next.check()).toEqual({ writable: true });
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
  const downloadUrl = await recorded(service, 0);
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
