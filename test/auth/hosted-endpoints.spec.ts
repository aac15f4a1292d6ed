import { afterAll, beforeAll } from '@jest/globals';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { SCALE_API } from '../../src/contracts/scale/scale.api.js';
import { SITE_API } from '../../src/contracts/site/site.api.js';
import { VISION_API } from '../../src/contracts/vision/vision.api.js';
import { type ApiKeyEndpoint, describeApiKeys } from '../shared/api-key.battery.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const APIS: readonly ApiKeyEndpoint['api'][] = [SCALE_API, ACCOUNT_API, SITE_API, VISION_API];

// Without its required fields, every route returns 400 for a valid key.
for (const api of APIS) {
  for (const { method, path } of Object.values(api.routes)) {
    const body = method === 'POST' ? {} : undefined;
    describeApiKeys({ api, method, path: api.prefix + path, body, accepted: 400 }, () => service);
  }
}
