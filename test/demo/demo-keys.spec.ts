import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AdminClient } from '../../src/demo/admin-client.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { demoKeys } from '../../src/demo/demo-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testServer } from '../support/test-database.js';

let service: TestApp;
let admin: AdminClient;
let folder: string;
beforeAll(async () => {
  service = await startTestApp();
  admin = new AdminClient(service.url, service.env.ADMIN_TOKEN);
  await admin.json('POST', '/haulers', { id: DEMO.haulerId, name: DEMO.haulerName });
});
beforeEach(() => {
  folder = mkdtempSync(join(testServer().folder, 'demo-'));
});
afterAll(() => service.close());

/** How many of the keys that were ever issued still open something. */
async function live(): Promise<number> {
  const { body } = await service.admin<{ data: { revokedAt: string | null }[] }>('GET', '/api-keys?pageSize=100');
  return body.data.filter(({ revokedAt }) => revokedAt === null).length;
}

test('the keys are kept in a data folder that was not there, for its owner alone', async () => {
  const dataDir = join(folder, 'new', 'data');
  const before = await live();
  const keys = await demoKeys(admin, dataDir);
  const file = join(dataDir, 'demo-keys.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(keys);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await demoKeys(admin, dataDir)).toEqual(keys);
  expect(await live()).toBe(before + 2);
});

test('none is issued where there can be no data folder', async () => {
  writeFileSync(join(folder, 'file'), '');
  const before = await live();
  await expect(demoKeys(admin, join(folder, 'file', 'data'))).rejects.toThrow('ENOTDIR');
  expect(await live()).toBe(before);
});

test('those that cannot be kept are revoked', async () => {
  mkdirSync(join(folder, 'demo-keys.json'));
  const before = await live();
  await expect(demoKeys(admin, folder)).rejects.toThrow('EISDIR');
  expect(await live()).toBe(before);
});

test('so is the first where the second is not issued', async () => {
  const once = new AdminClient(service.url, service.env.ADMIN_TOKEN);
  let asked = 0;
  once.json = (method, path, body) =>
    ++asked > 1 ? Promise.reject(new Error('away')) : admin.json(method, path, body);
  const before = await live();
  await expect(demoKeys(once, folder)).rejects.toThrow('away');
  expect([asked, await live()]).toEqual([2, before]);
  expect(existsSync(join(folder, 'demo-keys.json'))).toBe(false);
});
