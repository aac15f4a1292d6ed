import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { AdminClient } from '../../src/contracts/admin/admin.client.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { demoKeys } from '../../src/demo/demo-keys.js';
import { demoClient } from '../../src/demo/seed.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testServer } from '../support/test-database.js';

let service: TestApp;
let admin: AdminClient;
let folder: string;
beforeAll(async () => {
  service = await startTestApp();
  admin = demoClient(service.url, service.env);
  await admin.call('createHauler', { body: { id: DEMO.haulerId, name: DEMO.haulerName } });
});
beforeEach(() => {
  folder = mkdtempSync(join(testServer().folder, 'demo-'));
});
afterAll(() => service.close());

/** The number of keys that are not revoked. */
async function live(): Promise<number> {
  const { body } = await service.admin<{ data: { revokedAt: string | null }[] }>('GET', '/api-keys?pageSize=100');
  return body.data.filter(({ revokedAt }) => revokedAt === null).length;
}

test('stores the keys in a new data folder, readable by its owner only', async () => {
  const dataDir = join(folder, 'new', 'data');
  const before = await live();
  const keys = await demoKeys(admin, dataDir);
  const file = join(dataDir, 'demo-keys.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(keys);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await demoKeys(admin, dataDir)).toEqual(keys);
  expect(await live()).toBe(before + 2);
});

test('issues no key if the data folder cannot be created', async () => {
  writeFileSync(join(folder, 'file'), '');
  const before = await live();
  await expect(demoKeys(admin, join(folder, 'file', 'data'))).rejects.toThrow('ENOTDIR');
  expect(await live()).toBe(before);
});

test('revokes keys that it cannot store', async () => {
  mkdirSync(join(folder, 'demo-keys.json'));
  const before = await live();
  await expect(demoKeys(admin, folder)).rejects.toThrow('EISDIR');
  expect(await live()).toBe(before);
});

test('revokes the first key if the second cannot be issued', async () => {
  const once = demoClient(service.url, service.env);
  let calls = 0;
  once.call = (name, call) =>
    name === 'issueApiKey' && ++calls > 1 ? Promise.reject(new Error('away')) : admin.call(name, call);
  const before = await live();
  await expect(demoKeys(once, folder)).rejects.toThrow('away');
  expect([calls, await live()]).toEqual([2, before]);
  expect(existsSync(join(folder, 'demo-keys.json'))).toBe(false);
});
