import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CreateVideoResponse, ListVideosResponse } from '../../../src/contracts/vision/vision.api.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';
import { B_FRAMES, filmFolder, patchBox, remux } from './sample-files.js';

let service: TestApp;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
});
afterAll(() => service.close());

const folder = filmFolder();

const headers = () => ({ 'API-KEY': key });

async function clipOf(cameraId: string, bytes: Buffer): Promise<ListVideosResponse['data']> {
  expect((await upload(service, 0, { cameraId }, bytes)).status).toBe(201);
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId, startTime: at(0), endTime: at(0.5) };
  const asked = await service.call<CreateVideoResponse>('POST', '/video-platform/v1/videos/requests', {
    headers: headers(),
    body,
  });
  const query = new URLSearchParams({ customerId: CUSTOMER, requestId: asked.body.requestId }).toString();
  return eventually(async () => {
    const { body } = await service.call<ListVideosResponse>('GET', `/video-platform/v1/videos?${query}`, {
      headers: headers(),
    });
    expect(body.data.request?.status).not.toBe('processing');
    return body.data;
  });
}

it.each([0x10000000, 0xffffffff])(
  'a recording with %d samples in a chunk is listed whole with a reason, and blocks nothing',
  async (samples) => {
    let longestMs = 0;
    const timer = setInterval(() => {
      const started = Date.now();
      void service.call('GET', '/health/live').then(() => (longestMs = Math.max(longestMs, Date.now() - started)));
    }, 50);
    try {
      const { request, videos } = await clipOf(`stsc ${samples}`, patchBox(demoVideo(0), 'stsc', 12, samples));
      expect([request?.status, request?.message, videos[0]?.durationSeconds]).toEqual([
        ...['ready', expect.stringContaining('listed whole, because it cannot be trimmed'), 60],
      ]);
      expect(longestMs).toBeLessThan(5_000);
    } finally {
      clearInterval(timer);
    }
  },
);

it('a recording that ends its process is listed whole, with the reason', async () => {
  const path = await remux(B_FRAMES, join(folder, 'fragments.mp4'), { fastStart: 'fragmented' });
  const bytes = await readFile(path);
  const run = bytes.indexOf('trun');
  bytes.writeUInt32BE(0, run + 4);
  bytes.writeUInt32BE(0xffffffff, run + 8);
  const { request } = await clipOf('fragments', bytes);
  expect(request).toMatchObject({ status: 'ready', message: expect.stringMatching(/took too much memory\.$/) });
});
