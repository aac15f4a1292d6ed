import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { addFailedHours, addLost, waitingWindows } from '../../support/rows.js';
import { connectVision } from '../../support/vision-partner.js';

/** What one call changes where there are more rows than a statement can change within its time limit. Nothing is sent. */
let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ ticks: false, env: { OUTBOUND: 'off', OUTBOUND_ALLOW_PRIVATE: true } });
});
afterAll(() => app.close());

test('all of 60,000 lost recordings are tried again by one call, and each once (decision 54)', async () => {
  const { id } = await connectVision(app, 'http://127.0.0.1:9');
  await addLost(app, id, 60_000);
  const first = await app.admin('POST', '/recordings/retry', { connectionId: id });
  expect([first.status, first.body]).toEqual([202, { matched: 60_000 }]);
  const again = await app.admin('POST', '/recordings/retry', { connectionId: id });
  expect(again.body).toEqual({ matched: 0 });
}, 120_000);

test('a change of the key of a connection makes 100,000 lists due that failed (decision 18)', async () => {
  const { id } = await connectVision(app, 'http://127.0.0.1:9');
  const order = { connectionId: id, truckId: 'TRUCK-7', startTime: new Date().toISOString() };
  const { body } = await app.admin<{ id: string }>('POST', '/video-subscriptions', order);
  await addFailedHours(app, body.id, 100_000);
  const changed = await app.admin('PATCH', `/connections/${id}`, { apiKey: 'another-key' });
  expect(changed.status).toBe(200);
  expect(await waitingWindows(app)).toBe(0);
}, 120_000);
