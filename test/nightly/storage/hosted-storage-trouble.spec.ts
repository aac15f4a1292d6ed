import { mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ContinuousResponse } from '../../../src/contracts/vision/vision.api.js';
import { knownRoots } from '../../../src/core/storage/inventory.repository.js';
import { openStorage } from '../../../src/core/storage/open-storage.js';
import { STORAGE, type Storage } from '../../../src/core/storage/storage.js';
import { videoFileName } from '../../../src/reference-partner/vision/stored-videos.repository.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, TRUCK, upload } from '../../support/reference-vision.js';
import { hostedIds, type HostedTable, slowCommits, usualCommits } from '../../support/rows.js';

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
  const next = await openStorage(service.env.STORAGE_URL, { roots: knownRoots(service.database) });
  expect(await next.check()).toEqual({ writable: false, reason: expect.stringContaining('missing or empty') });
  expect(await readdir(root)).toEqual([]);
  await rmdir(root);
  await rename(`${root}.aside`, root);
  expect(await next.check()).toEqual({ writable: true });
});
