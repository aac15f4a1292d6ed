import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../../support/app.js';
import { addHalfRemovedClip, addLost, refuseRetry } from '../../support/rows.js';
import { connectVision } from '../../support/vision-partner.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ ticks: false, env: { OUTBOUND: 'off', OUTBOUND_ALLOW_PRIVATE: true } });
});
afterAll(() => app.close());

test('lost recordings that a call could not try again are tried again by the next call, and none twice (decision 54)', async () => {
  const { id } = await connectVision(app, 'http://127.0.0.1:9');
  await addLost(app, id, 3_000);
  const retry = (filter: object = {}) =>
    app.admin<{ matched: number }>('POST', '/recordings/retry', { connectionId: id, ...filter });
  const repair = await refuseRetry(app, 2_500);
  expect((await retry()).status).toBe(503);
  await repair();
  // Those before the failure are not lost any more.
  const { matched } = (await retry({ truckId: 'TRUCK-7' })).body;
  expect(matched).toBeGreaterThan(0);
  expect(matched).toBeLessThan(100);
  const rest = (await retry()).body.matched;
  expect(matched + rest).toBeLessThan(2_000);
  expect((await retry()).body).toEqual({ matched: 0 });
});

test('a request is tried again while one of its clips was lost, although retention deleted the file of another (decision 54)', async () => {
  const { id } = await connectVision(app, 'http://127.0.0.1:9');
  const request = await addHalfRemovedClip(app, id);
  const retried = await app.admin('POST', `/video-requests/${request}/retry`);
  expect(retried).toMatchObject({ status: 202, body: { status: 'ready' } });
  expect(await app.admin('POST', '/recordings/retry', { connectionId: id })).toMatchObject({ body: { matched: 0 } });
});
