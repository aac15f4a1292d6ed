import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { HostedVideoRequest } from '../../../src/contracts/admin/hosted.dto.js';
import type { List } from '../../../src/contracts/admin/list.dto.js';
import type { ContinuousResponse, CreateVideoResponse } from '../../../src/contracts/vision/vision.dto.js';
import { knownRoots } from '../../../src/storage/storage-roots.repository.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { StorageUnavailableError } from '../../../src/storage/storage-errors.js';
import { STORAGE, type Storage } from '../../../src/storage/storage.js';
import { videoFileName } from '../../../src/reference-partner/vision/stored-videos.repository.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';
import { deleteHostedRequest, hostedIds, type HostedTable, slowCommits, usualCommits } from '../../support/rows.js';

/** Longer than a statement may take, and than the connection waits for it. */
const COMMIT_SECONDS = 6;

let service: TestApp;
let key: string;
let root: string;
let storage: Storage;

beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
  root = new URL(service.env.STORAGE_URL).pathname;
  storage = service.app.get<Storage>(STORAGE, { strict: false });
  await upload(service, 0);
});
afterAll(() => service.close());

const idsOf = (table: HostedTable) => hostedIds(service, table);

async function requestClip(): Promise<string> {
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(0.5) };
  const headers = { 'API-KEY': key };
  const asked = await service.call<CreateVideoResponse>('POST', '/video-platform/v1/videos/requests', {
    headers,
    body,
  });
  expect(asked.status).toBe(202);
  return asked.body.requestId;
}

/** Both run at the same time, each with its own table and camera: they mostly wait. */
it.concurrent(
  'the file of a recording stays if its commit succeeds after the service has given up the connection',
  async () => {
    const before = await idsOf('reference_recordings');
    await slowCommits(service, 'reference_recordings', COMMIT_SECONDS);
    expect((await upload(service, 1, { cameraId: 'rear' })).status).toBe(503);
    const added = await eventually(async () => {
      const ids = (await idsOf('reference_recordings')).filter((id) => !before.includes(id));
      expect(ids).toHaveLength(1);
      return ids;
    });
    await usualCommits(service, 'reference_recordings');
    for (const id of added) expect(await storage.stat(videoFileName('recordings', id))).toBeDefined();
  },
);

it.concurrent(
  'the file of a clip stays if its commit succeeds after the service has given up the connection',
  async () => {
    const before = await idsOf('reference_clips');
    await slowCommits(service, 'reference_clips', COMMIT_SECONDS);
    await requestClip();
    const added = await eventually(async () => {
      const ids = (await idsOf('reference_clips')).filter((id) => !before.includes(id));
      expect(ids).toHaveLength(1);
      return ids;
    });
    await usualCommits(service, 'reference_clips');
    // The service has given up before, and would have deleted the file by now.
    for (const id of added) expect(await storage.stat(videoFileName('clips', id))).toBeDefined();
  },
);

it('a clip that cannot be published leaves no bytes behind', async () => {
  // A file has the name of the folder of clips.
  const folder = join(root, 'reference-clips');
  await rm(folder, { recursive: true, force: true });
  await writeFile(folder, '');
  const id = await requestClip();
  await eventually(async () => {
    const { body } = await service.admin<List<HostedVideoRequest>>('GET', '/hosted/video-requests');
    expect(body.data.find((each) => each.id === id)?.lastError).toBeDefined();
  });
  // The job retries it meanwhile.
  await eventually(async () => expect(await readdir(join(root, '.partial'))).toEqual([]));
  await deleteHostedRequest(service, id);
  await rm(folder);
});

/** Uploads the recording of a minute that no other test uses, and lists it. */
async function recorded(minute: number): Promise<{ id: string; downloadUrl: string }> {
  expect((await upload(service, minute)).status).toBe(201);
  const times = { startTime: at(minute), endTime: at(minute + 1) };
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, ...times });
  const { body } = await service.call<ContinuousResponse>(
    'GET',
    `/video-platform/v1/videos/continuous?${query.toString()}`,
    { headers: { 'API-KEY': key } },
  );
  expect(body.data.recordings).toHaveLength(1);
  return body.data.recordings![0]!;
}

it('a video that the storage cannot open now is 503 with Retry-After', async () => {
  const { id, downloadUrl } = await recorded(2);
  const path = join(root, videoFileName('recordings', id));
  await rename(path, `${path}.aside`);
  // A link to itself.
  await symlink(path, path);
  const response = await fetch(downloadUrl);
  expect([response.status, response.headers.get('retry-after'), response.headers.get('etag')]).toEqual([
    503,
    '5',
    null,
  ]);
  expect(await response.json()).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
  await rename(`${path}.aside`, path);
  const again = await fetch(downloadUrl);
  expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([200, demoVideo(2).length]);
});

it.each([
  ['reference-recordings', 4],
  ['.', 5],
])('a video of a storage whose mount is missing is 503 with Retry-After: %s', async (folder, minute) => {
  const { downloadUrl } = await recorded(minute);
  const path = resolve(root, folder);
  await rename(path, `${path}.aside`);
  const response = await fetch(downloadUrl);
  await rename(`${path}.aside`, path);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('5');
  expect(await response.json()).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR' } });
});

it('a process that starts while the mount is missing creates nothing at its path', async () => {
  await rename(root, `${root}.aside`);
  await mkdir(root);
  const next = await openStorage(service.env.STORAGE_URL, { roots: knownRoots(service.dataSource) });
  expect(await next.check()).toEqual({ writable: false, reason: expect.stringContaining('missing or empty') });
  expect(await readdir(root)).toEqual([]);
  await rmdir(root);
  await rename(`${root}.aside`, root);
  expect(await next.check()).toEqual({ writable: true });
});

it.each<[string, (storage: Storage, folder: string) => Promise<unknown>]>([
  [
    'has its first recording',
    (opened) => opened.store(videoFileName('recordings', randomUUID()), Readable.from([Buffer.from('video')])),
  ],
  ['had recordings before its identity was stored', (_, folder) => mkdir(join(folder, 'reference-recordings'))],
])('a folder may be mounted after the first start, and is required once it %s', async (_, fill) => {
  const parent = await mkdtemp(join(tmpdir(), 'mount-'));
  const [folder, below, volume] = [join(parent, 'videos'), join(parent, 'below'), join(parent, 'volume')];
  const started = async () => {
    const opened = await openStorage(`file:${folder}`, { roots: knownRoots(service.dataSource) });
    return { opened, ...(await opened.check()) };
  };
  expect(await started()).toMatchObject({ writable: true });
  await rename(folder, below);
  await mkdir(folder);
  const { opened, writable } = await started();
  expect(writable).toBe(true);
  await fill(opened, folder);
  expect(await started()).toMatchObject({ writable: true });
  await rename(folder, volume);
  await rename(below, folder);
  await expect(opened.createDraft(videoFileName('recordings', randomUUID()))).rejects.toThrow(StorageUnavailableError);
  expect(await started()).toMatchObject({ writable: false });
  expect(await readdir(folder)).toEqual(['.partial']);
  await rm(folder, { recursive: true });
  await rename(volume, folder);
  expect(await started()).toMatchObject({ writable: true });
  await rm(parent, { recursive: true });
});

it('a recording whose file is lost is an error in JSON, not a video', async () => {
  const recording = await recorded(3);
  await storage.delete(videoFileName('recordings', recording.id));
  const response = await fetch(recording.downloadUrl, { headers: { Range: 'bytes=0-9' } });
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(['etag', 'content-range', 'accept-ranges'].map((name) => response.headers.get(name))).toEqual([
    null,
    null,
    null,
  ]);
  expect(await response.json()).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
});
