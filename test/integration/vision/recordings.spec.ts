import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CreatedRecordingShare } from '../../../src/contracts/admin/shares.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { insertFootage, videoConnection } from '../../support/held-footage.js';
import { addHalfRemovedClip, addLost, endRecording, refuseRetry } from '../../support/rows.js';
import { connectVision } from '../../support/vision-partner.js';

let app: TestApp;
/** Another instance, with an address of its own. */
let second: TestApp;
beforeAll(async () => {
  app = await startTestApp({ ticks: false, env: { OUTBOUND: 'off', OUTBOUND_ALLOW_PRIVATE: true } });
  second = await startTestApp({ on: app, env: { PUBLIC_URL: 'https://platform.example/base/' } });
});
afterAll(async () => {
  await second.close();
  await app.close();
});

describe('a link to a recording', () => {
  let recordingId: string;
  beforeEach(async () => {
    const scene = await videoConnection(app);
    const times = { start: '2026-01-31T08:30:00Z', end: '2026-01-31T08:35:00Z' };
    [recordingId = ''] = await insertFootage(app, [{ ...scene, ...times }]);
  });

  const share = (fields: object = {}, on = app) =>
    on.admin<CreatedRecordingShare>('POST', `/recordings/${recordingId}/shares`, { reason: 'Dispute', ...fields });
  const press = (url: string) => fetch(url, { method: 'POST', body: new URLSearchParams() });

  test('begins with PUBLIC_URL', async () => {
    const { url } = (await share({}, second)).body;
    expect(url).toMatch(/^https:\/\/platform\.example\/base\/shared\/hb_\w{49}$/);
  });

  test('opens no page when its file was deleted, and none can be made', async () => {
    const { url } = (await share()).body;
    await endRecording(app, recordingId);
    for (const open of [press, fetch]) expect((await open(url)).status).toBe(404);
    expect((await share()).status).toBe(409);
  });

  test('cannot be guessed quickly; one that works is opened nevertheless', async () => {
    const { pathname } = new URL((await share()).body.url);
    const guess = async () => (await fetch(`${second.url}/shared/guess-${randomUUID()}`)).status;
    expect(new Set(await Promise.all(Array.from({ length: 69 }, guess)))).toEqual(new Set([404, 429]));
    expect(await guess()).toBe(429);
    expect((await fetch(second.url + pathname)).status).toBe(200);
  });
});

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
