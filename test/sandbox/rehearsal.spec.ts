import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../src/demo/demo-data.js';
import { type Demo, seedDemo } from '../../src/demo/seed.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { hurry } from '../support/vision-partner.js';

let service: TestApp;
let demo: Demo;
let connectionId: string;
beforeAll(async () => {
  service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
  demo = await seedDemo(service.env, service.url);
  const { body } = await service.admin<{ data: { id: string; interface: string }[] }>('GET', '/connections');
  connectionId = body.data.find((each) => each.interface === 'vision')?.id ?? '';
}, 60_000);
afterAll(() => service.close());

/** What becomes of a clip that the platform requests of a truck of the catalogue. */
test.each([
  ['SANDBOX-FAILED-CLIP', { status: 'failed', reason: expect.stringContaining('The camera was switched off') }],
  ['SANDBOX-NO-RANGE', { status: 'stored' }],
  ['SANDBOX-ETAG-CHANGES', { status: 'stored' }],
  ['SANDBOX-CAMERA-ALIAS', { status: 'stored' }],
  ['SANDBOX-ENDLESS-CLIP', { status: 'processing' }],
])('the platform requests a clip of %s', async (truckId, expected) => {
  const body = { connectionId, truckId, cameraId: 'front', ...demo.clip };
  const { status, body: request } = await service.admin<{ id: string }>('POST', '/video-requests', body);
  expect(status).toBe(202);
  await eventually(async () => {
    await hurry(service);
    expect((await service.admin('GET', `/video-requests/${request.id}`)).body).toMatchObject(expected);
  });
});

test('the platform repeats a call of a synchronisation that got 503', async () => {
  const parameters = { seconds: 0 };
  await service.admin('PUT', `/sandbox/haulers/${DEMO.haulerId}/scenarios/unavailable`, { times: 1, parameters });
  const { body } = await service.admin<{ data: { id: string; interface: string }[] }>('GET', '/connections');
  const site = body.data.find((each) => each.interface === 'site')?.id ?? '';
  const run = await service.admin<{ runId: string }>('POST', `/connections/${site}/sync`);
  await eventually(async () =>
    expect((await service.admin('GET', `/sync-runs/${run.body.runId}`)).body).toMatchObject({ status: 'succeeded' }),
  );
  const active = await service.admin('GET', `/sandbox/haulers/${DEMO.haulerId}`);
  expect(active.body).toEqual({ data: [] });
});
