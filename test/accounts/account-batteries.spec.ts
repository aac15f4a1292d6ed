import { afterAll, beforeAll } from '@jest/globals';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { describeIdempotency } from '../shared/idempotency.battery.js';
import { describeJsonBody } from '../shared/json-body.battery.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

let names = 0;
const endpoint = {
  api: ACCOUNT_API,
  path: '/platform-api/v1/accounts',
  body: () => ({ accountName: `Once ${++names}`, primaryContact: { firstName: 'Zoë' } }),
};

describeJsonBody(endpoint, () => service);

describeIdempotency(
  {
    ...endpoint,
    reused: { status: 409, code: 'CONFLICT' },
    refused: async (partner) => {
      const taken = endpoint.body();
      await partner.post(taken);
      return taken;
    },
    table: 'accounts',
  },
  () => service,
);
