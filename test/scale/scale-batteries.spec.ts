import { afterAll, beforeAll } from '@jest/globals';
import { SCALE_API } from '../../src/contracts/scale/scale.api.js';
import { describeApiKeys } from '../shared/api-key.battery.js';
import type { PostEndpoint } from '../shared/post-endpoint.js';
import { describeIdempotency } from '../shared/idempotency.battery.js';
import { describeJsonBody } from '../shared/json-body.battery.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { CatalogFixture } from '../support/catalog.js';
import { TICKETS } from '../support/scale-house.js';

const SITE = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
const MATERIAL = '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21';

let count = 0;
const ticket = (materialId = MATERIAL) => ({
  siteId: SITE,
  materials: [{ id: materialId, name: 'Debris', quantity: ++count, unitOfMeasure: 'Ton' }],
  inboundFlow: { ticketNumber: `IN-${count}`, updatedAt: '2026-01-31T08:30:00Z' },
});

const endpoint: PostEndpoint = {
  api: SCALE_API,
  path: TICKETS,
  body: () => ticket(),
  prepare: async ({ dataSource }, haulerId) => {
    const catalog = new CatalogFixture(dataSource);
    await catalog.site(haulerId, { id: SITE });
    await catalog.material(haulerId, { siteId: SITE }, { id: MATERIAL });
  },
};

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

// The keys of this battery belong to haulers without sites, so a ticket with a valid key is refused by a rule.
describeApiKeys({ api: SCALE_API, method: 'POST', path: TICKETS, body: ticket(), accepted: 422 }, () => service);

describeJsonBody(endpoint, () => service);

describeIdempotency(
  {
    ...endpoint,
    table: 'tickets',
    reused: { status: 422, code: 'VALIDATION_ERROR' },
    refused: async () => ticket('00000000-0000-4000-8000-000000000000'),
  },
  () => service,
);
