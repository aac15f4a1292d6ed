import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { ExchangeReplay } from '../../../src/admin/exchange-replay.service.js';
import { StorageChecks } from '../../../src/admin/storage-check/storage-check.service.js';
import { StorageRepairs } from '../../../src/admin/storage-check/storage-repair.service.js';
import { Retention } from '../../../src/vision/retention/retention.job.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const SILENCE_MS = 200;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  app.app.getHttpServer().setTimeout(SILENCE_MS);
});
afterAll(() => app.close());

/** The service with a method that takes longer than a connection may be silent. */
function slow<T extends object>(type: abstract new (...parts: never[]) => T, method: keyof T): void {
  const service: T = app.app.get(type, { strict: false });
  jest.spyOn(service, method as never).mockImplementation((() => delay(SILENCE_MS * 6, {})) as never);
}

test.each([
  ['check of the storage', 'GET', '/doctor', {}, () => slow(StorageChecks, 'examine')],
  ['repair of the storage', 'POST', '/doctor/repair', {}, () => slow(StorageRepairs, 'run')],
  ['deletion by age', 'POST', '/retention', {}, () => slow(Retention, 'run')],
  [
    'replay of many exchanges',
    'POST',
    '/exchanges/replay',
    { status: '422' },
    () => slow(ExchangeReplay, 'replayMany'),
  ],
])('a %s may take longer than a connection may be silent', async (_, method, path, body, make) => {
  make();
  expect((await app.admin(method, path, method === 'GET' ? undefined : body)).status).toBe(200);
});
