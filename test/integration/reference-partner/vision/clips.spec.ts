import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { HostedVideoRequest } from '../../../../src/contracts/admin/hosted.routes.js';
import type { List } from '../../../../src/contracts/admin/list.dto.js';
import type { ListVideosResponse } from '../../../../src/contracts/vision/vision.api.js';
import { ReferenceVideoRequests } from '../../../../src/reference-partner/vision/video-requests.service.js';
import { DraftSweep } from '../../../../src/core/storage/storage.module.js';
import { issueKey } from '../../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { at, CUSTOMER, TRUCK, upload } from '../../../support/reference-vision.js';
import { hurryHostedClips } from '../../../support/time.js';

const DAY_MS = 86_400_000;
let app: TestApp;
beforeAll(async () => void (app = await startTestApp({ env: { SIDES: new Set(['partner'] as const) } })));
afterAll(() => app.close());

const untouchedFor = (path: string, ms: number) => {
  const then = new Date(Date.now() - ms);
  return utimes(path, then, then);
};

test('the partial upload of a killed process is removed also where only the partner side runs', async () => {
  const partial = join(new URL(app.env.STORAGE_URL).pathname, '.partial');
  const draft = () => `reference-recordings~ab~${randomUUID()}.mp4`;
  const [old, young] = [draft(), draft()];
  for (const [name, days] of [
    [old, 3],
    [young, 1],
    ['of another program', 3],
  ] as const) {
    await mkdir(join(partial, name), { recursive: true });
    await untouchedFor(join(partial, name), days * DAY_MS);
  }
  expect(await app.app.get(DraftSweep, { strict: false }).sweep()).toBe(1);
  expect((await readdir(partial)).sort()).toEqual(['of another program', young]);
});

test('a clip is not listed with a request that is still shown as processing', async () => {
  const headers = { 'API-KEY': (await issueKey(app, ['vision'])).key };
  const customerId = randomUUID();
  expect((await upload(app, 0, { customerId })).status).toBe(201);
  const body = { customerId, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) };
  const path = '/video-platform/v1/videos';
  const asked = await app.call<{ requestId: string }>('POST', `${path}/requests`, { headers, body });
  const { requestId } = asked.body;
  const list = async () =>
    (
      await app.call<ListVideosResponse>(
        'GET',
        `${path}?${new URLSearchParams({ customerId, requestId }).toString()}`,
        {
          headers,
        },
      )
    ).body.data;
  await eventually(async () => expect((await list()).request).toMatchObject({ status: 'ready' }));
  // The row as it was read just before the clip was ready.
  const requests = app.app.get(ReferenceVideoRequests, { strict: false });
  const ready = (await requests.find(requestId))!;
  jest.spyOn(requests, 'find').mockResolvedValueOnce({ ...ready, status: 'processing' });
  expect(await list()).toMatchObject({ request: { status: 'processing' }, videos: [], pagination: { totalItems: 0 } });
  expect(await list()).toMatchObject({ request: { status: 'ready' }, videos: [{ requestId }] });
});

test('a clip whose recording the storage does not deliver is tried a limited number of times; admins see why at every attempt and at the end', async () => {
  const { key } = await issueKey(app, ['vision']);
  expect((await upload(app, 0)).status).toBe(201);
  await rm(join(new URL(app.env.STORAGE_URL).pathname, 'reference-recordings'), { recursive: true });
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(0.5) };
  await app.call('POST', '/video-platform/v1/videos/requests', { headers: { 'API-KEY': key }, body });
  const shown = async () => (await app.admin<List<HostedVideoRequest>>('GET', '/hosted/video-requests')).body.data[0]!;
  const reason = expect.stringMatching(/^The video storage failed: its folder is missing/);
  await eventually(async () =>
    expect(await shown()).toMatchObject({ status: 'processing', attempts: 1, lastError: reason }),
  );
  // The test does not wait for four hours of growing delays.
  await hurryHostedClips(app, 11);
  await eventually(async () =>
    expect(await shown()).toMatchObject({
      status: 'failed',
      attempts: 12,
      message: 'The clip could not be prepared: its storage did not work.',
      lastError: expect.stringMatching(/^The video storage failed: .* Gave up after 12 attempts\.$/),
    }),
  );
});
