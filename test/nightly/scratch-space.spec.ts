import { mkdirSync, mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { ListVideosResponse } from '../../src/contracts/vision/vision.dto.js';
import { hevcVideo } from './media/sample-files.js';
import { startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { requirePrograms } from '../support/programs.js';
import { at, CUSTOMER, TRUCK } from '../support/reference-vision.js';
import { createTestDatabase } from '../support/test-database.js';
import { testServer } from '../support/test-run.js';

const ADMIN = { Authorization: 'Bearer test-admin-token-0123456789' };
const TMP_MIB = 20;
const PICTURES = 420;
const PICTURE_BYTES = 100_000;

/** As in Compose, where `/tmp` is in memory. */
test('a clip that is larger than the folder of temporary files is prepared', async () => {
  requirePrograms('unshare');
  const folder = mkdtempSync(join(testServer().folder, 'scratch-'));
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  const database = await createTestDatabase();
  const service = await startService({
    databaseUrl: database.url,
    dataDir: join(folder, 'data'),
    env: { TMPDIR: temporary },
    smallDisk: { folder: temporary, mib: TMP_MIB },
  });
  const { url } = service;
  const video = await hevcVideo(join(folder, 'video.mp4'), { pictures: PICTURES, pictureBytes: PICTURE_BYTES });
  const camera = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front' };
  const query = new URLSearchParams({ ...camera, startTime: at(0), endTime: at(1) });
  const uploaded = await fetch(`${url}/admin/v1/hosted/recordings?${query.toString()}`, {
    method: 'POST',
    headers: { ...ADMIN, 'Content-Type': 'video/mp4' },
    body: new Uint8Array(await readFile(video)),
  });
  expect([uploaded.status, await uploaded.text()]).toEqual([201, expect.any(String)]);
  const { key } = (
    await service.admin<{ key: string }>('POST', '/api-keys', { interfaces: ['vision'], allCustomers: true })
  ).body;
  const own = { 'API-KEY': key, 'Content-Type': 'application/json' };
  const requested = await fetch(`${url}/video-platform/v1/videos/requests`, {
    method: 'POST',
    headers: own,
    body: JSON.stringify({ ...camera, startTime: at(0), endTime: at(1) }),
  });
  const { requestId } = (await requested.json()) as { requestId: string };
  const list = `/video-platform/v1/videos?${new URLSearchParams({ customerId: CUSTOMER, requestId }).toString()}`;
  const { request, videos } = await eventually(async () => {
    const { data } = (await (await fetch(url + list, { headers: own })).json()) as ListVideosResponse;
    expect(data.request?.status).not.toBe('processing');
    return data;
  });
  expect(request).toMatchObject({ status: 'ready' });
  const { byteLength } = await (await fetch(videos[0]?.downloadUrl ?? '')).arrayBuffer();
  reportFigures('scratch-space', { clipMiB: Math.round(byteLength / 1024 ** 2), tmpMiB: TMP_MIB });
  expect(byteLength).toBeGreaterThan(PICTURES * PICTURE_BYTES);
  await service.end();
  await database.drop();
}, 120_000);
