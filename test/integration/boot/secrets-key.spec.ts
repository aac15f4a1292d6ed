import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { migrate } from '../../../src/core/database/migrate.js';
import { sealKey } from '../../../src/partner-client/connection-keys.service.js';
import { assertOwnKey, refuseOtherKey } from '../../../src/partner-client/secrets-key.js';
import { loadRelease } from '../../support/released-database.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

const [KEY, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
const REFUSED = 'SECRETS_KEY: it is not the one of this database';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const sql = (text: string, values: unknown[] = []) => onServer(database.url, (client) => client.query(text, values));
const start = (key: Buffer) => refuseOtherKey(database.url, key);

/** The keys of a partner, as 0.2 has stored them. */
async function connection(...sealedWith: Buffer[]): Promise<void> {
  const [haulerId, id] = [randomUUID(), randomUUID()];
  const [sealed, next = null] = sealedWith.map((key) => sealKey(key, id, 'key of the partner'));
  await sql(`INSERT INTO haulers (id, name) VALUES ($1, 'hauler')`, [haulerId]);
  await sql(
    `INSERT INTO connections (id, hauler_id, interface, base_url, sealed_key, sealed_next_key, enabled, interval_seconds, created_at, updated_at)
     VALUES ($1, $2, 'site', 'https://partner.example', $3, $4, false, 900, now(), now())`,
    [id, haulerId, sealed, next],
  );
}

test('the first start on a database without secrets decides which SECRETS_KEY is its own', async () => {
  await start(KEY);
  await start(KEY);
  await expect(start(OTHER)).rejects.toThrow(REFUSED);
  await start(KEY);
});

test('of two first starts with different keys, one is refused', async () => {
  const outcomes = await Promise.allSettled([start(KEY), start(OTHER)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

describe('a database of a version without the record takes the present SECRETS_KEY', () => {
  test('if a stored secret can be opened with it', async () => {
    // Sealed by a key before, which a partner's new key has not replaced yet.
    await connection(OTHER);
    await connection(OTHER, KEY);
    await start(KEY);
    await expect(start(OTHER)).rejects.toThrow(REFUSED);
  });

  test('and no other one', async () => {
    await connection(KEY);
    await expect(start(OTHER)).rejects.toThrow(REFUSED);
    await start(KEY);
  });
});

test('the refusal has the statement for a key that is lost', async () => {
  await connection(KEY);
  await start(KEY);
  const refusal = await start(OTHER).catch(String);
  const [, statement = ''] =
    /(UPDATE schema_version SET secrets_key_fingerprint = '[0-9a-f]{32}') in/.exec(String(refusal)) ?? [];
  await sql(statement);
  await start(OTHER);
  await expect(start(KEY)).rejects.toThrow(REFUSED);
});

test('a database of 0.2.0 is not migrated with another key, and the refusal has the statement for a key that is lost', async () => {
  const old = await createTestDatabase({ migrated: false });
  const upgrade = (key: Buffer) => migrate(old.url, { before: (pool) => assertOwnKey(pool, key) });
  await loadRelease(old.url, '0.2.0');
  const refusal = await upgrade(OTHER).catch(String);
  expect(refusal).toContain(REFUSED);
  await onServer(old.url, async (client) => {
    expect((await client.query('SELECT name FROM migrations')).rows).toHaveLength(39);
    await client.query(/run (UPDATE .+) in the database/.exec(String(refusal))?.[1] ?? '');
  });
  expect((await upgrade(OTHER)).length).toBeGreaterThan(0);
  await refuseOtherKey(old.url, OTHER);
  await expect(refuseOtherKey(old.url, KEY)).rejects.toThrow(REFUSED);
  await old.drop();
});

test('a start on a database that takes no writes, or is not migrated, is not refused', async () => {
  const name = new URL(database.url).pathname.slice(1);
  await sql(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  await start(KEY);
  const empty = await createTestDatabase({ migrated: false });
  await refuseOtherKey(empty.url, KEY);
  await empty.drop();
});
