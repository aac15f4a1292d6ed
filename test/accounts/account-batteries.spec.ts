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
const name = () => ({ accountName: `Account ${++names}` });
const body = () => ({ ...name(), primaryContact: { firstName: 'Zoë' } });
const endpoint = { api: ACCOUNT_API, path: '/platform-api/v1/accounts' };

// This battery counts the characters of a body as its bytes.
describeJsonBody({ ...endpoint, body: name }, () => service);

describeIdempotency(
  {
    ...endpoint,
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
