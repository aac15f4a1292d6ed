import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import type { Account } from '../../../src/contracts/admin/account.dto.js';
import type { StorageCheck } from '../../../src/contracts/admin/storage.dto.js';
import { migrate } from '../../../src/database/migrate.js';
import { callerOf } from '../../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { asLimitedUser } from '../../support/rows.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

let database: TestDatabase;
let service: TestApp;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  const url = await asLimitedUser(database.url);
  await migrate(url);
  service = await startTestApp({ env: { DATABASE_URL: url } });
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

async function found(search: string): Promise<string[]> {
  const query = new URLSearchParams({ search }).toString();
  const { body } = await service.admin<{ data: Account[] }>('GET', `/accounts?${query}`);
  return body.data.map(({ accountName }) => accountName);
}
const advice = async () => (await service.admin<StorageCheck>('GET', '/doctor')).body.advice;

test('a database user that may not create extensions gets a search of beginnings, and doctor says how to get all', async () => {
  const caller = await callerOf({ api: ACCOUNT_API, path: '/platform-api/v1/accounts' }, service);
  const names = ['Lone Star Demolition', 'LONE  STAR 100% _x', 'Starlight', 'x'.repeat(200)];
  for (const accountName of names) await caller.post({ accountName });
  expect(await found('lone star')).toEqual(['LONE  STAR 100% _x', 'Lone Star Demolition']);
  expect(await found('lone star 100%')).toEqual(['LONE  STAR 100% _x']);
  expect(await found('s')).toEqual(['Starlight']);
  expect(await found('x'.repeat(200))).toEqual(['x'.repeat(200)]);
  expect(await found('demolition')).toEqual([]);
  expect(await advice()).toContain('CREATE EXTENSION pg_trgm');

  const [, extension, index] = /run: (.*?); then.*?: (.*);$/.exec((await advice()) ?? '') ?? [];
  await onServer(database.url, (client) => client.query(extension ?? ''));
  await onServer(database.url, (client) => client.query(index ?? ''));
  expect(await found('demolition')).toEqual(['Lone Star Demolition']);
  expect(await advice()).toBeUndefined();
});
