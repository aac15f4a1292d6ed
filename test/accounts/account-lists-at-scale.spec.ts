import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { nameDigest } from '../../src/accounts/account-name.js';
import { findAccountPage } from '../../src/accounts/account.repository.js';
import { gramsOf, searchText } from '../../src/accounts/account-search.js';
import type { AccountQuery } from '../../src/contracts/admin/account.dto.js';
import { pageRequest } from '../../src/contracts/common/pagination.dto.js';
import { inTransaction } from '../../src/database/transaction.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const ACCOUNTS = 100_000;
const HAULERS = Array.from({ length: 20 }, () => randomUUID());
const WORDS = 'Lone Star Green Valley River Rock North County Demolition Paving Roofing Builders Supply Haul'.split(
  ' ',
);

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await database.connect(1);
  // VACUUM can mark pages as visible to all only after the commit was flushed.
  await dataSource.query('SET synchronous_commit = on');
  for (const id of HAULERS) await dataSource.query("INSERT INTO haulers (id, name) VALUES ($1, 'h')", [id]);
  // The index is built at the end, which is faster than row by row.
  const [gin] = await dataSource.query<[{ indexdef: string }]>(
    "SELECT indexdef FROM pg_indexes WHERE indexname = 'accounts_search_idx'",
  );
  await dataSource.query('DROP INDEX accounts_search_idx');
  for (let done = 0; done < ACCOUNTS; done += 2000) await insert(done, 2000);
  await inTransaction(dataSource, (manager) => manager.query(gin.indexdef), { statementTimeoutMs: 60_000 });
  await dataSource.query('VACUUM ANALYZE accounts');
}, 120_000);
afterAll(() => database.drop());

async function insert(from: number, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => {
    const n = from + i;
    const word = (k: number) => WORDS[(n * 7919 * (k + 1) + (n >> (k * 3))) % WORDS.length];
    const name = `${word(1)} ${word(2)} ${word(3)} ${n.toString(36)}`;
    const [number, email] = [`A-${100_001 + n}`, `${word(4)}.${n}@example.com`.toLowerCase()];
    const text = searchText([name, number, email]);
    return { hauler: HAULERS[n % HAULERS.length], id: uuidv7(), number, name, email, text };
  });
  await dataSource.query(
    `INSERT INTO accounts (hauler_id, id, account_number, account_name, name_digest, search_text, search_grams, contact_id, email)
     SELECT a.hauler, a.id, a.number, a.name, a.digest, a.text, a.grams::int[], a.id, a.email
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[])
              AS a (hauler, id, number, name, digest, text, grams, email)`,
    [
      rows.map(({ hauler }) => hauler),
      rows.map(({ id }) => id),
      rows.map(({ number }) => number),
      rows.map(({ name }) => name),
      rows.map(({ name }) => nameDigest(name)),
      rows.map(({ text }) => text),
      rows.map(({ text }) => `{${gramsOf(text).join(',')}}`),
      rows.map(({ email }) => email),
    ],
  );
}

/** The plan of the statement for a page. */
async function planOf(query: AccountQuery): Promise<string> {
  const plan: { 'QUERY PLAN': string }[] = [];
  await inTransaction(dataSource, (manager) =>
    findAccountPage(
      {
        query: async <T>(sql: string, parameters?: unknown[]) => {
          if (sql.startsWith('SET')) return manager.query<T>(sql);
          if (!sql.startsWith('EXPLAIN')) {
            plan.push(...(await manager.query<typeof plan>(`EXPLAIN ANALYZE ${sql}`, parameters)));
          }
          return manager.query<T>(sql, parameters);
        },
      },
      query,
      pageRequest(query),
    ),
  );
  return plan.map((line) => line['QUERY PLAN']).join('\n');
}

describe(`lists of ${ACCOUNTS} accounts read no table from end to end`, () => {
  test.each<[string, AccountQuery]>([
    ['no filter', {}],
    ['no filter, the last page', { page: ACCOUNTS / 20 }],
    ['a hauler', { haulerId: HAULERS[3] }],
    ['a hauler, its last page', { haulerId: HAULERS[3], page: ACCOUNTS / HAULERS.length / 20 }],
    ['an unknown hauler', { haulerId: randomUUID() }],
    ['a search that finds one', { search: '.4711@' }],
    ['a search that finds nothing', { search: 'zzz nothing' }],
    ['a search of two words', { search: 'lone star' }],
    ['a search of one character', { search: 'q' }],
    ['a search of an account number', { search: 'a-104711' }],
    ['a search of an e-mail address', { search: 'paving.99@example.com' }],
    ['a search within a hauler', { search: 'valley', haulerId: HAULERS[5] }],
    ['a search that finds all', { search: 'example.com' }],
  ])('%s', async (_what, query) => {
    const plan = await planOf(query);
    expect(plan).toContain('Index');
    expect(plan).not.toContain('Seq Scan');
  });
});
