import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CreatedRecordingShare } from '../../../src/contracts/admin/share.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { insertFootage, videoConnection } from '../../support/held-footage.js';
import { endRecording } from '../../support/rows.js';

let app: TestApp;
/** Another instance, with an address of its own. */
let second: TestApp;
let recordingId: string;
beforeAll(async () => {
  app = await startTestApp({ ticks: false });
  second = await startTestApp({ on: app, env: { PUBLIC_URL: 'https://platform.example/base/' } });
});
afterAll(async () => {
  await second.close();
  await app.close();
});
beforeEach(async () => {
  const scene = await videoConnection(app);
  const times = { start: '2026-01-31T08:30:00Z', end: '2026-01-31T08:35:00Z' };
  [recordingId = ''] = await insertFootage(app, [{ ...scene, ...times }]);
});

const share = (fields: object = {}, on = app) =>
  on.admin<CreatedRecordingShare>('POST', `/recordings/${recordingId}/shares`, { reason: 'Dispute', ...fields });
const press = (url: string) => fetch(url, { method: 'POST', body: new URLSearchParams() });

describe('a link to a recording', () => {
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
    const statuses: number[] = [];
    for (let i = 0; i < 70; i++) statuses.push((await fetch(`${second.url}/shared/guess-${randomUUID()}`)).status);
    expect(statuses.at(-1)).toBe(429);
    expect(new Set(statuses)).toEqual(new Set([404, 429]));
    expect((await fetch(second.url + pathname)).status).toBe(200);
  });
});
