import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { describeIdempotency } from '../shared/idempotency.battery.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

let names = 0;
const body = () => ({ accountName: `Once ${++names}`, primaryContact: { firstName: 'Zoë' } });

describeIdempotency(
  {
    api: ACCOUNT_API,
    path: '/platform-api/v1/accounts',
    body,
    reused: { status: 409, code: 'CONFLICT' },
    refused: async (partner) => {
      const taken = body();
      await partner.post(taken);
      return taken;
    },
    table: 'accounts',
  },
  () => service,
);

test('the service sweeps old keys by itself', () =>
  expect(service.app.get(SchedulerRegistry).getIntervals()).toContain('idempotency sweep'));
