import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import { nameDigest } from '../../src/accounts/account-name.js';
import { searchText } from '../../src/accounts/account-search.js';
import { accountList } from '../../src/accounts/account.repository.js';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import type { Account, AccountQuery } from '../../src/contracts/admin/account.dto.js';
import { LAST_ROW, listPage } from '../../src/database/list-page.js';
import { inTransaction } from '../../src/database/transaction.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { type Caller, callerOf, type ErrorAnswer, pathsOf } from '../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

interface Accounts {
  readonly data: Account[];
  readonly pagination: { page: number; pageSize: number; totalItems: number; totalPages: number };
}

const ENDPOINT = { api: ACCOUNT_API, path: '/platform-api/v1/accounts' };
const NOBODY = '00000000-0000-4000-8000-000000000000';

let service: TestApp;
let first: Caller;
let second: Caller;
beforeAll(async () => {
  service = await startTestApp();
  first = await callerOf(ENDPOINT, service);
  second = await callerOf(ENDPOINT, service);
  for (let i = 1; i <= 25; i++) await first.post({ accountName: `Numbered ${String(i).padStart(2, '0')}` });
  await first.post({
    accountName: 'Lone Star Demolition',
    billingAddress: { city: 'Austin' },
    primaryContact: { email: 'dana.reyes@example.com' },
  });
  await second.post({ accountName: 'LONE  STAR Recycling', primaryContact: { email: 'Oz@Example.org' } });
  await second.post({ accountName: 'Straßenbau 100% _under_' });
});
afterAll(() => service.close());

const list = async (query: Record<string, string> = {}) =>
  (await service.admin<Accounts>('GET', `/accounts?${new URLSearchParams(query).toString()}`)).body;
const names = async (query: Record<string, string>) => (await list(query)).data.map(({ accountName }) => accountName);

describe('GET /admin/v1/accounts', () => {
  test('returns pages of 20, newest first, with the fields of section 2.5 and the hauler', async () => {
    const { data, pagination } = await list();
    expect(pagination).toMatchObject({ page: 1, pageSize: 20, totalItems: 28, totalPages: 2 });
    expect(data.map(({ accountName }) => accountName).slice(0, 4)).toEqual([
      'Straßenbau 100% _under_',
      'LONE  STAR Recycling',
      'Lone Star Demolition',
      'Numbered 25',
    ]);
    expect(data[2]).toEqual({
      accountId: expect.any(String),
      accountNumber: expect.stringMatching(/^A-\d+$/),
      accountName: 'Lone Star Demolition',
      billingAddress: { addressId: expect.any(String), city: 'Austin' },
      primaryContact: { contactId: expect.any(String), email: 'dana.reyes@example.com' },
      haulerId: first.haulerId,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
  });

  test('returns every account once, and an empty page past the end', async () => {
    const seen: string[] = [];
    for (let page = 1; page <= 3; page++) {
      const { data, pagination } = await list({ page: String(page), pageSize: '10' });
      expect(pagination).toMatchObject({ page, pageSize: 10, totalItems: 28, totalPages: 3 });
      seen.push(...data.map(({ accountId }) => accountId));
    }
    expect(new Set(seen).size).toBe(28);
    expect(await list({ page: '4', pageSize: '10' })).toMatchObject({
      data: [],
      pagination: { page: 4, pageSize: 10, totalItems: 28, totalPages: 3 },
    });
  });

  test('filters by hauler, in either case of its id', async () => {
    expect((await list({ haulerId: first.haulerId })).pagination.totalItems).toBe(26);
    expect((await list({ haulerId: second.haulerId.toUpperCase() })).pagination.totalItems).toBe(2);
    expect(await list({ haulerId: NOBODY })).toMatchObject({
      data: [],
      pagination: { page: 1, pageSize: 20, totalItems: 0, totalPages: 0 },
    });
  });

  test.each([
    ['lone star', ['LONE  STAR Recycling', 'Lone Star Demolition']],
    ['ONE ST', ['LONE  STAR Recycling', 'Lone Star Demolition']],
    ['demolition', ['Lone Star Demolition']],
    ['dana.reyes@example.com', ['Lone Star Demolition']],
    ['EYES@EX', ['Lone Star Demolition']],
    ['oz@', ['LONE  STAR Recycling']],
    ['strassen', ['Straßenbau 100% _under_']],
    ['100%', ['Straßenbau 100% _under_']],
    ['_under', ['Straßenbau 100% _under_']],
    ['de', ['Lone Star Demolition']],
    ['d', ['Lone Star Demolition']],
    ['numbered 07', ['Numbered 07']],
    ['%', []],
    ['nothing like it', []],
    // Each three characters occur in accounts, but all of them in none.
    ['lone lone', []],
  ])('search %j', async (search, expected) => expect(await names({ search })).toEqual(expected));

  test('finds an account number, and its end', async () => {
    const [account] = (await list({ search: 'demolition' })).data as [Account];
    expect(await names({ search: account.accountNumber.toLowerCase() })).toEqual(['Lone Star Demolition']);
    expect(await names({ search: account.accountNumber.slice(2) })).toEqual(['Lone Star Demolition']);
  });

  test('combines search and hauler, in pages', async () => {
    expect(await names({ search: 'lone star', haulerId: second.haulerId })).toEqual(['LONE  STAR Recycling']);
    const { data, pagination } = await list({
      search: 'numbered',
      haulerId: first.haulerId,
      pageSize: '10',
      page: '3',
    });
    expect(pagination).toMatchObject({ page: 3, pageSize: 10, totalItems: 25, totalPages: 3 });
    expect(data.map(({ accountName }) => accountName)).toEqual([5, 4, 3, 2, 1].map((i) => `Numbered 0${i}`));
    expect((await list({ search: 'numbered', haulerId: second.haulerId })).pagination.totalItems).toBe(0);
  });

  test.each([
    ['page', '0'],
    ['page', 'x'],
    ['pageSize', '0'],
    ['pageSize', '101'],
    ['pageSize', '1.5'],
    ['haulerId', 'x'],
    ['search', ''],
    ['search', '  '],
    ['search', 'x'.repeat(201)],
    ['search', '\u0000'],
  ])('%s=%j: 400', async (name, value) => {
    const reply = await service.admin<ErrorAnswer>(
      'GET',
      `/accounts?${new URLSearchParams({ [name]: value }).toString()}`,
    );
    expect([reply.status, reply.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
    expect(pathsOf(reply)).toEqual([name]);
  });
});

describe('GET /admin/v1/accounts/{id}', () => {
  test('returns the account, in either case of its id', async () => {
    const [account] = (await list()).data as [Account];
    for (const id of [account.accountId, account.accountId.toUpperCase()]) {
      expect(await service.admin('GET', `/accounts/${id}`)).toMatchObject({ status: 200, body: account });
    }
  });

  test('returns 404 for an unknown id, and 400 for an invalid one', async () => {
    const unknown = await service.admin('GET', `/accounts/${NOBODY}`);
    expect(unknown).toMatchObject({ status: 404, body: { success: false, error: { code: 'NOT_FOUND' } } });
    const malformed = await service.admin('GET', '/accounts/x');
    expect(malformed).toMatchObject({ status: 400, body: { success: false, error: { code: 'INVALID_PAYLOAD' } } });
  });

  test('returns 401 without the token', async () => {
    for (const path of ['/admin/v1/accounts', `/admin/v1/accounts/${NOBODY}`]) {
      const reply = await service.call('GET', path, { headers: { [ACCOUNT_API.keyHeader]: first.key } });
      expect(reply).toMatchObject({ status: 401, body: { success: false, error: { code: 'UNAUTHORIZED' } } });
    }
  });
});

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
    `INSERT INTO accounts (hauler_id, id, account_number, account_name, name_digest, search_text, contact_id, email)
     SELECT a.hauler, a.id, a.number, a.name, a.digest, a.text, a.id, a.email
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[])
              AS a (hauler, id, number, name, digest, text, email)`,
    [
      rows.map(({ hauler }) => hauler),
      rows.map(({ id }) => id),
      rows.map(({ number }) => number),
      rows.map(({ name }) => name),
      rows.map(({ name }) => nameDigest(name)),
      rows.map(({ text }) => text),
      rows.map(({ email }) => email),
    ],
  );
}

/** The plans of the statements for a page. */
async function planOf(query: AccountQuery): Promise<string> {
  const plan: { 'QUERY PLAN': string }[] = [];
  const explaining = {
    query: async <T>(sql: string, parameters: unknown[]) => {
      plan.push(...(await dataSource.query<typeof plan>(`EXPLAIN ANALYZE ${sql}`, parameters)));
      return dataSource.query<T>(sql, parameters);
    },
  };
  await listPage(explaining, accountList(query), query);
  return plan.map((line) => line['QUERY PLAN']).join('\n');
}

describe(`lists of ${ACCOUNTS} accounts read no table from end to end`, () => {
  test.each<[string, AccountQuery]>([
    ['no filter', {}],
    ['no filter, the last page', { page: LAST_ROW / 20 }],
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
