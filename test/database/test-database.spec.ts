import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../support/test-database.js';
import { onServer } from '../support/test-server.js';

describe('createTestDatabase', () => {
  test('gives each caller a migrated database of its own', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const [first, second] = await Promise.all([one.connect(), two.connect()]);
    await first.query("INSERT INTO haulers (id, name) VALUES ('018f0000-0000-7000-8000-000000000000', 'Ada')");
    expect(await first.query('SELECT name FROM haulers')).toEqual([{ name: 'Ada' }]);
    expect(await second.query('SELECT name FROM haulers')).toEqual([]);
    await Promise.all([one.drop(), two.drop()]);
  });

  test('drops its database also while a connection is open', async () => {
    const database = await createTestDatabase();
    const left = new pg.Client({ connectionString: database.url });
    left.on('error', () => undefined);
    await left.connect();
    await database.drop();
    await expect(onServer(database.url, () => Promise.resolve())).rejects.toThrow('does not exist');
  });
});
