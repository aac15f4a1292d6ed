import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ADMIN_API } from '../../src/contracts/admin/admin.api.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const LISTS = [
  '/accounts',
  '/api-keys',
  '/connections',
  '/haulers',
  '/hosted/video-requests',
  '/kiosks',
  '/materials',
  '/recordings',
  '/sites',
  '/sync-runs',
  '/tickets',
  '/video-requests',
  '/video-subscriptions',
  '/vision-findings',
];

describe.each(LISTS)(`a page past the end of ${ADMIN_API.prefix}%s (decision 43)`, (path) => {
  test.each(['1000000001', '9007199254740992', '9'.repeat(100)])('%s: 200 and an empty list', async (page) => {
    const { status, body } = await service.admin<{ data: unknown[] }>('GET', `${path}?page=${page}&pageSize=100`);
    expect([status, body.data]).toEqual([200, []]);
  });
});

test('page=0 is refused after a thousand unknown parameters as well (decisions 4, 43)', async () => {
  const { status } = await service.admin('GET', `/haulers?${'x&'.repeat(1000)}page=0`);
  expect(status).toBe(400);
});
