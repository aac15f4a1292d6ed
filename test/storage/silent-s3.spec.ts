import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ContinuousResponse } from '../../src/contracts/vision/vision.dto.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../support/reference-vision.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';

let server: S3Server;
let service: TestApp;
beforeAll(async () => {
  server = await startS3Server();
  service = await startTestApp({ env: { STORAGE_URL: server.storageUrl('fleet') } });
});
afterAll(async () => {
  await service.close();
  await server.stop();
});

test('playback and upload receive 503 with Retry-After within 10 s while the S3 server is silent', async () => {
  expect((await upload(service, 0)).status).toBe(201);
  const { key } = await issueKey(service, ['vision']);
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(1) });
  const path = `/video-platform/v1/videos/continuous?${query.toString()}`;
  const { body } = await service.call<ContinuousResponse>('GET', path, { headers: { 'API-KEY': key } });
  const { downloadUrl } = body.data.recordings![0]!;
  server.suspend();
  const started = Date.now();
  const [played, uploaded] = await Promise.all([fetch(downloadUrl), upload(service, 1)]).finally(() => server.resume());
  expect(Date.now() - started).toBeLessThan(10_000);
  expect([played.status, played.headers.get('retry-after')]).toEqual([503, '5']);
  expect([uploaded.status, uploaded.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await upload(service, 1)).status).toBe(201);
  expect((await (await fetch(downloadUrl)).arrayBuffer()).byteLength).toBe(demoVideo(0).length);
}, 20_000);
