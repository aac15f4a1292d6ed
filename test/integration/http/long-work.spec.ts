import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { ExchangeReplay } from '../../../src/admin/exchange-replay.service.js';
import { Erasures } from '../../../src/admin/erasures/erasures.service.js';
import { StorageChecks, StorageRepairs } from '../../../src/admin/storage-check/storage-check.service.js';
import { ConnectionsService } from '../../../src/partner-client/connections.service.js';
import { Holds } from '../../../src/vision/holds/holds.service.js';
import { Retention } from '../../../src/vision/retention/retention.job.js';
import { RetentionSettings } from '../../../src/vision/retention/retention-settings.service.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const SILENCE_MS = 1_000;
const ID = '019a9a3e-5b7c-7def-8123-456789abcdef';
const HOLD = {
  ...{ connectionId: ID, truckId: 'TRUCK-7', caseId: 'C', reason: 'r' },
  ...{ from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' },
};

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
  app.app.getHttpServer().setTimeout(SILENCE_MS);
});
afterAll(() => app.close());

/** The service with a method that takes longer than a connection may be silent. */
function slow<T extends object>(
  type: abstract new (...parts: never[]) => T,
  method: keyof T,
  answer: object = {},
): void {
  const service: T = app.app.get(type, { strict: false });
  jest.spyOn(service, method as never).mockImplementation((() => delay(SILENCE_MS * 3, answer)) as never);
}

test('checks, repairs, deletions, holds and replays of many may take longer than a connection may be silent', async () => {
  slow(StorageChecks, 'examine');
  slow(StorageRepairs, 'run');
  slow(Retention, 'run');
  slow(ExchangeReplay, 'replayMany');
  slow(Erasures, 'create');
  slow(Holds, 'create');
  slow(Holds, 'release');
  slow(RetentionSettings, 'set');
  slow(ConnectionsService, 'remove', { ended: [], preview: {} });
  const replies = await Promise.all([
    app.admin('GET', '/doctor'),
    app.admin('POST', '/doctor/repair', {}),
    app.admin('POST', '/retention', {}),
    app.admin('POST', '/exchanges/replay', { status: '422' }),
    app.admin('POST', '/erasures', { haulerId: ID, accountId: ID, dryRun: true }),
    app.admin('POST', '/holds', HOLD),
    app.admin('POST', `/holds/${ID}/release`, { reason: 'r' }),
    app.admin('PUT', `/haulers/${ID}/retention`, { onDemandDays: 30 }),
    app.admin('DELETE', `/connections/${ID}?dryRun=true`),
  ]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 201, 200, 200, 200]);
});
