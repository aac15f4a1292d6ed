import { afterAll, beforeAll } from '@jest/globals';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { describeJsonBody } from '../shared/json-body.battery.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

let names = 0;

describeJsonBody(
  { api: ACCOUNT_API, path: '/platform-api/v1/accounts', body: () => ({ accountName: `Body ${++names}` }) },
  () => service,
);
