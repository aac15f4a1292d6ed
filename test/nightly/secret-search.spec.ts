import { expect, test } from '@jest/globals';
import { createKey } from '../../src/auth/api-key.js';
import { startTestApp } from '../support/app.js';
import { issueKey } from '../support/api-keys.js';
import { searchSecrets } from '../support/secret-search.js';
import { holdTable, insertHaulers } from '../support/rows.js';
import { createTestDatabase } from '../support/test-database.js';
import { TEST_ADMIN_TOKEN } from '../support/test-run.js';
import { textCollector } from '../support/written-text.js';

test('the search at the end of each database finds secrets in tables, logs and answers', async () => {
  const database = await createTestDatabase();
  const service = await startTestApp({ env: { DATABASE_URL: database.url } });
  const { haulerId } = await issueKey(service, ['scale']);
  expect(await searchSecrets(database.url)).toEqual({ found: [], unsearched: [] });

  const { key } = createKey();
  const partnerKey = 'key-of-a-partner-4711';
  const connection = { haulerId, interface: 'site', baseUrl: 'https://partner.example', apiKey: partnerKey };
  expect((await service.admin('POST', '/connections', { ...connection, enabled: false })).status).toBe(201);
  expect(await searchSecrets(database.url)).toEqual({ found: [], unsearched: [] });

  // The form of a key without its checksum.
  await service.dataSource.query(`UPDATE connections SET last_error = $1`, [`v1.hb_${'a'.repeat(49)}`]);
  expect(await searchSecrets(database.url)).toEqual({ found: [], unsearched: [] });

  textCollector(database.url, 'the log')(`{"msg":"failed with ${key}"}`);
  textCollector(database.url, 'an answer')(`Bearer ${TEST_ADMIN_TOKEN}`);
  await service.dataSource.query(`UPDATE haulers SET name = $1`, [`x ${partnerKey}`]);
  await service.dataSource.query(`UPDATE connections SET last_error = $1`, [Buffer.from(key).toString('hex')]);
  const { found } = await searchSecrets(database.url);
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

test('a search that could not look says so, and one that is broken fails', async () => {
  const database = await createTestDatabase();
  const db = { dataSource: await database.connect(2) };
  await insertHaulers(db, 40_001);
  const many = 'table haulers: more than 40000 rows, of which any were searched';
  expect(await searchSecrets(database.url)).toEqual({ found: [], unsearched: [many] });
  const release = await holdTable(db, 'haulers');
  textCollector(database.url, 'the log')(TEST_ADMIN_TOKEN);
  expect(await searchSecrets(database.url)).toEqual({
    found: [expect.stringContaining('in the log')],
    unsearched: expect.arrayContaining(['table haulers: it is locked']),
  });
  await release();
  const gone = database.url.replace(/[^/]+$/, 'no_such_database');
  expect(await searchSecrets(gone)).toEqual({ found: [], unsearched: ['the database: the database is gone'] });
  await db.dataSource.query('ALTER TABLE connections RENAME sealed_key TO renamed');
  await expect(searchSecrets(database.url)).rejects.toThrow('sealed_key');
  await db.dataSource.query('ALTER TABLE connections RENAME renamed TO sealed_key');
  await database.drop();
});
