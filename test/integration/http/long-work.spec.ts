import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { ExchangeReplay } from '../../../src/admin/exchange-replay.service.js';
import { StorageChecks, StorageRepairs } from '../../../src/admin/storage-check/storage-check.service.js';
import { Retention } from '../../../src/vision/retention/retention.job.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const SILENCE_MS = 1_000;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  app.app.getHttpServer().setTimeout(SILENCE_MS);
});
afterAll(() => app.close());

/** The service with a method that takes longer than a connection may be silent. */
function slow<T extends object>(type: abstract new (...parts: never[]) => T, method: keyof T): void {
  const service: T = app.app.get(type, { strict: false });
  jest.spyOn(service, method as never).mockImplementation((() => delay(SILENCE_MS * 3, {})) as never);
}

test('checks, repairs, deletions by age and replays of many may take longer than a connection may be silent', async () => {
  slow(StorageChecks, 'examine');
  slow(StorageRepairs, 'run');
  slow(Retention, 'run');
  slow(ExchangeReplay, 'replayMany');
  const replies = await Promise.all([
    app.admin('GET', '/doctor'),
    app.admin('POST', '/doctor/repair', {}),
    app.admin('POST', '/retention', {}),
    app.admin('POST', '/exchanges/replay', { status: '422' }),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});
