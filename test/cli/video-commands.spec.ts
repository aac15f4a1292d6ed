import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf as answer, commandsBeside, runCommand as run } from '../support/command-line.js';
import { accepts, connectVision, POST, startVisionPartner, type VisionPartner } from '../support/vision-partner.js';

let service: TestApp;
let partner: VisionPartner;
let leave: () => void;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
  partner.on(POST, accepts());
  leave = commandsBeside(service);
});
afterAll(async () => {
  leave();
  await service.close();
  await partner.stop();
});

test('a clip is requested and listed', async () => {
  const { id: connectionId } = await connectVision(service, partner.url);
  const words = ['--connection-id', connectionId, '--truck-id', 'T1', '--camera-id', 'front'];
  const range = ['--start-time', '2026-01-31T08:30:00Z', '--end-time', '2026-01-31T08:35:00Z'];
  const { id } = await answer<{ id: string }>('video-request', 'create', ...words, ...range);
  const list = await answer('video-request', 'list', '--truck-id', 'T1');
  expect(list).toMatchObject({ data: [{ id, truckId: 'T1' }], pagination: { totalItems: 1 } });
  expect(await answer('video-request', 'show', id)).toMatchObject({ id, parts: [{ number: 1 }] });
});

test('a range that ends before it starts is wrong usage', async () => {
  const { id } = await connectVision(service, partner.url);
  const range = ['--start-time', '2026-01-31T08:30:00Z', '--end-time', '2026-01-31T08:25:00Z'];
  const more = ['--connection-id', id, '--truck-id', 'T1', '--camera-id', 'front'];
  expect(await run('video-request', 'create', ...more, ...range)).toMatchObject({
    code: 2,
    err: 'error: endTime must be after startTime\n',
  });
});

test('recordings are listed, and old ones counted without deleting', async () => {
  expect(await answer('recording', 'list', '--status', 'stored')).toMatchObject({ data: [] });
  expect(await answer('retention', 'run', '--dry-run')).toEqual({ recordings: 0, bytes: 0 });
});
