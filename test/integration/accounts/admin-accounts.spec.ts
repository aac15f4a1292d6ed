import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import type { Account } from '../../../src/contracts/admin/account.dto.js';
import { type Caller, callerOf, type ErrorAnswer, pathsOf } from '../../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../../support/app.js';

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
