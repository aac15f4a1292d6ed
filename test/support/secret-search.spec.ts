import { expect, test } from '@jest/globals';
import { createKey } from '../../src/auth/api-key.js';
import { startTestApp } from './app.js';
import { issueKey } from './api-keys.js';
import { findSecrets } from './secret-search.js';
import { createTestDatabase } from './test-database.js';
import { TEST_ADMIN_TOKEN } from './test-run.js';
import { textCollector } from './written-text.js';

test('the search at the end of each database finds secrets in tables, logs and answers', async () => {
  const database = await createTestDatabase();
  const service = await startTestApp({ env: { DATABASE_URL: database.url } });
  const { haulerId } = await issueKey(service, ['scale']);
  expect(await findSecrets(database.url)).toEqual([]);

  const { key } = createKey();
  const partnerKey = 'key-of-a-partner-4711';
  const connection = { haulerId, interface: 'site', baseUrl: 'https://partner.example', apiKey: partnerKey };
  expect((await service.admin('POST', '/connections', { ...connection, enabled: false })).status).toBe(201);
  expect(await findSecrets(database.url)).toEqual([]);

  // The form of a key without its checksum.
  await service.dataSource.query(`UPDATE connections SET last_error = $1`, [`v1.hb_${'a'.repeat(49)}`]);
  expect(await findSecrets(database.url)).toEqual([]);

  textCollector(database.url, 'the log')(`{"msg":"failed with ${key}"}`);
  textCollector(database.url, 'an answer')(`Bearer ${TEST_ADMIN_TOKEN}`);
  await service.dataSource.query(`UPDATE haulers SET name = $1`, [`x ${partnerKey}`]);
  await service.dataSource.query(`UPDATE connections SET last_error = $1`, [Buffer.from(key).toString('hex')]);
  const found = await findSecrets(database.url);
  expect(found.map((each) => each.replace(/^.*… /, '')).sort()).toEqual([
    'in an answer',
    'in table connections',
    'in table haulers',
    'in the log',
  ]);
  await service.dataSource.query(`UPDATE haulers SET name = 'x'`);
  await service.dataSource.query(`UPDATE connections SET last_error = NULL`);
  await service.close();
  await database.drop();
});
