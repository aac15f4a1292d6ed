import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreateVideoResponse, ListVideosResponse } from '../../../src/contracts/vision/vision.dto.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';
import { hurryHostedClips } from '../../support/time.js';
import { B_FRAMES, clipFolder, patchBox, remux } from './sample-files.js';

let service: TestApp;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
});
afterAll(() => service.close());

const { folder } = clipFolder();

const headers = () => ({ 'API-KEY': key });

async function clipOf(cameraId: string, bytes: Buffer, minutes = 0.5): Promise<ListVideosResponse['data']> {
  expect((await upload(service, 0, { cameraId }, bytes)).status).toBe(201);
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId, startTime: at(0), endTime: at(minutes) };
  const asked = await service.call<CreateVideoResponse>('POST', '/video-platform/v1/videos/requests', {
    headers: headers(),
    body,
  });
  const query = new URLSearchParams({ customerId: CUSTOMER, requestId: asked.body.requestId }).toString();
  return eventually(async () => {
    // A failed attempt is not repeated before some seconds have passed; the test does not wait for that.
    await hurryHostedClips(service);
    const { body } = await service.call<ListVideosResponse>('GET', `/video-platform/v1/videos?${query}`, {
      headers: headers(),
    });
    expect(body.data.request?.status).not.toBe('processing');
    return body.data;
  });
}

it('a recording that is cut short spoils no clip: it is used up to its last frame, and the message says so', async () => {
  expect((await upload(service, 1, { cameraId: 'short' }, demoVideo(1).subarray(0, 60_000))).status).toBe(201);
  const { request, videos } = await clipOf('short', demoVideo(0), 2);
  expect(request).toMatchObject({
    status: 'ready',
    message: 'A part was left out: the recording that starts at 2026-01-31T08:31:00.000Z: the video is cut short.',
  });
  const [clip] = videos;
  expect(clip?.durationSeconds).toBeGreaterThan(60);
  expect(clip?.durationSeconds).toBeLessThan(120);
});

it.each([0x10000000, 0xffffffff])(
  'a recording with %d samples in a chunk fails with a reason, and blocks nothing',
  async (samples) => {
    let longestMs = 0;
    const timer = setInterval(() => {
      const started = Date.now();
      void service.call('GET', '/health/live').then(() => (longestMs = Math.max(longestMs, Date.now() - started)));
    }, 50);
    try {
      const { request } = await clipOf(`stsc ${samples}`, patchBox(demoVideo(0), 'stsc', 12, samples));
      expect(request).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('damaged table of contents'),
      });
      expect(longestMs).toBeLessThan(5_000);
    } finally {
      clearInterval(timer);
    }
  },
);

it('a recording that ends its process each time fails after three attempts, with the reason', async () => {
  const path = await remux(B_FRAMES, join(folder, 'fragments.mp4'), { fastStart: 'fragmented' });
  const bytes = await readFile(path);
  const run = bytes.indexOf('trun');
  bytes.writeUInt32BE(0, run + 4);
  bytes.writeUInt32BE(0xffffffff, run + 8);
  const { request } = await clipOf('fragments', bytes);
  expect(request).toMatchObject({ status: 'failed', message: expect.stringMatching(/too much memory, 3 times\.$/) });
});
