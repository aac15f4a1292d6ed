import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContinuousResponse } from '../../../src/contracts/vision/vision.api.js';
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
