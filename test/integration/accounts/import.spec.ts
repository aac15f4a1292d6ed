import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import type { Account, AccountImport } from '../../../src/contracts/admin/accounts.routes.js';
import type { Action } from '../../../src/contracts/admin/actions.routes.js';
import { type Caller, callerOf } from '../../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { refuseAccount } from '../../support/rows.js';

const ENDPOINT = { api: ACCOUNT_API, path: '/platform-api/v1/accounts' };

const LIMITED = 'token-of-a-person-with-one-hauler';
const VIEWER = 'token-of-a-person-who-only-reads';

let service: TestApp;
let owner: Caller;
beforeAll(async () => {
  service = await startTestApp({
    env: {
      ADMIN_TOKENS: [
        { name: 'limited', token: LIMITED, role: 'operator', haulers: ['0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24'] },
        { name: 'viewer', token: VIEWER, role: 'viewer' },
      ],
    },
  });
  owner = await callerOf(ENDPOINT, service);
});
afterAll(() => service.close());

interface Refusal {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: { violations: { path: string; rule: string; message: string }[] };
  };
}

interface Sending {
  readonly haulerId?: string;
  readonly dryRun?: boolean;
  readonly token?: string;
  readonly type?: string;
}

const send = (body: string | Buffer, { haulerId = owner.haulerId, dryRun, token, type = 'text/csv' }: Sending = {}) =>
  service.call<AccountImport & Refusal>(
    'POST',
    `/admin/v1/accounts/import?haulerId=${haulerId}${dryRun === undefined ? '' : `&dryRun=${dryRun}`}`,
    { headers: { Authorization: `Bearer ${token ?? service.env.ADMIN_TOKEN}`, 'Content-Type': type }, body },
  );

const fresh = async () => (await callerOf(ENDPOINT, service)).haulerId;
const accountsOf = async (haulerId: string) =>
  (await service.admin<{ data: Account[] }>('GET', `/accounts?haulerId=${haulerId}&pageSize=100`)).body.data;
const countsOf = ({ rows, created, exists, conflict, invalid }: AccountImport) => [
  rows,
  created,
  exists,
  conflict,
  invalid,
];
const refused = async (body: string | Buffer) => {
  const { status, body: answer } = await send(body);
  return [status, ...answer.error.details.violations.map(({ rule, message }) => `${rule} ${message}`)];
};

describe('the forms of a file', () => {
  const row = 'Lone Star,78701';
  test.each([
    ['commas and LF', `accountName,billingAddress.zip\n${row}\n`],
    ['CR LF without an end', `accountName,billingAddress.zip\r\n${row}`],
    ['CR alone', `accountName,billingAddress.zip\r${row}\r`],
    ['a byte order mark and semicolons', `\ufeffaccountName;billingAddress.zip\r\nLone Star;78701\r\n`],
    [
      'quotes in the first line and columns in another order',
      `"billingAddress.zip","accountName"\n"78701","Lone Star"\n`,
    ],
    ['empty lines, rows and columns', `\n accountName ,billingAddress.zip,\n\n${row},\n,,\n"",,\n`],
  ])('%s', async (_, file) => {
    const haulerId = await fresh();
    const { status, body } = await send(file, { haulerId });
    expect([status, countsOf(body)]).toEqual([200, [1, 1, 0, 0, 0]]);
    expect(await accountsOf(haulerId)).toMatchObject([{ accountName: 'Lone Star', billingAddress: { zip: '78701' } }]);
  });

  test('a cell may have the separator, a quotation mark and line breaks, and the lines are those of the file', async () => {
    const haulerId = await fresh();
    const file = 'accountName,billingAddress.state\r\n"A ""B"", C\r\nD",TX\r\nE,Texas\r\n"F\nG",XX\r\n';
    const { body } = await send(file, { haulerId });
    expect(body.data.map(({ line, result }) => [line, result])).toEqual([
      [4, 'invalid'],
      [5, 'invalid'],
      [2, 'created'],
    ]);
    expect((await accountsOf(haulerId)).map(({ accountName }) => accountName)).toEqual(['A "B", C\r\nD']);
  });

  test.each<[string, string | Buffer, string]>([
    ['nothing', '', 'isCsv line 1: the file is empty: the first line has the names of the columns'],
    [
      'a quote that is not closed',
      'accountName\nA\n"B\nC\n',
      'isCsv line 3: the row that begins here has a quotation mark that is not closed',
    ],
    [
      'another encoding',
      Buffer.from('accountName\nA\nCaf\u00e9\nB\n', 'latin1'),
      'isCsv line 3: the text is not UTF-8: save the file as CSV UTF-8',
    ],
    [
      'a workbook',
      Buffer.from('PK\x03\x04xxxx'),
      'isCsv line 1: the file is a workbook, not CSV: save the file as CSV UTF-8',
    ],
  ])('refuses %s', async (_, file, sentence) => {
    expect(await refused(file)).toEqual([400, sentence]);
  });

  test('names each column that is unknown, double or missing, and what was meant', async () => {
    expect(await refused('AccountNam,City,billingAddress.zip,billingAddress.zip,colour\nA,B,C,D,E\n')).toEqual([
      400,
      'isColumn line 1: unknown column AccountNam (did you mean accountName?)',
      'isColumn line 1: unknown column City (did you mean billingAddress.city?)',
      'isColumn line 1: the column billingAddress.zip stands twice',
      expect.stringMatching(
        /^isColumn line 1: unknown column colour; the columns are accountId, accountNumber, accountName,/,
      ),
      'isColumn line 1: the column accountName is missing',
    ]);
  });
});

describe('the rows', () => {
  const HEAD = 'accountName,billingAddress.state,primaryContact.email,accountNumber,haulerId\n';
  test.each([
    ['', 'accountName', 'isDefined'],
    ['A,tx', 'billingAddress.state', 'matches'],
    [`A,,,,${randomUUID()}`, 'haulerId', 'isOwnHauler'],
    ['A,,,,,surplus', '', 'isCellCount'],
  ])('%j: %s %s', async (row, path, rule) => {
    const cells = row.split(',');
    const filled = [...cells, ...Array<string>(Math.max(0, 5 - cells.length)).fill('')].join(',');
    const { body } = await send(`${HEAD}${filled === ',,,,' ? ',,,A-1,' : filled}\n`, { dryRun: true });
    expect(countsOf(body)).toEqual([1, 0, 0, 0, 1]);
    expect(body.data[0]).toMatchObject({ line: 2, result: 'invalid', violations: [{ path, rule }] });
  });

  test('a dry run says what the import then does, also of rows that repeat each other, and writes nothing', async () => {
    const partner = await callerOf(ENDPOINT, service);
    const { haulerId } = partner;
    await partner.post({ accountName: 'Known' });
    await partner.post({ accountName: 'Other' });
    const [other, known] = (await accountsOf(haulerId)) as [Account, Account];
    const lines = [
      'accountName,accountNumber,billingAddress.state',
      'New One,,TX',
      'KNOWN,,',
      `Known,${known.accountNumber},`,
      ` new  one,,`,
      `Renamed,${other.accountNumber},`,
      'Renamed,A-1,',
      'Bad,,Texas',
    ];
    const dry = await send(lines.join('\n'), { haulerId, dryRun: true });
    expect([dry.status, countsOf(dry.body), dry.body.isComplete]).toEqual([200, [7, 2, 3, 1, 1], true]);
    expect(await accountsOf(haulerId)).toHaveLength(2);
    expect(dry.body.data).toMatchObject([
      { line: 8, result: 'invalid', violations: [{ path: 'billingAddress.state' }] },
      {
        line: 6,
        result: 'conflict',
        accountId: other.accountId,
        violations: [{ path: 'accountNumber', rule: 'isSameAccount', message: expect.stringContaining('"Other"') }],
      },
      { line: 3, result: 'exists', accountId: known.accountId },
      { line: 4, result: 'exists', accountNumber: known.accountNumber },
      { line: 5, result: 'exists', sameAsLine: 2 },
      { line: 2, result: 'created' },
      { line: 7, result: 'created' },
    ]);
    const wet = await send(lines.join('\n'), { haulerId });
    const shape = ({ data }: AccountImport) => data.map(({ line, result, sameAsLine }) => [line, result, sameAsLine]);
    expect([countsOf(wet.body), shape(wet.body)]).toEqual([countsOf(dry.body), shape(dry.body)]);
    expect((await accountsOf(haulerId)).map(({ accountName }) => accountName).sort()).toEqual([
      'Known',
      'New One',
      'Other',
      'Renamed',
    ]);
    // Again: what was created exists, and nothing else changes.
    expect(countsOf((await send(lines.join('\n'), { haulerId })).body)).toEqual([7, 0, 5, 1, 1]);
  });

  test('an export can be imported, with the texts that the export guards', async () => {
    const from = await callerOf(ENDPOINT, service);
    const accounts = [
      { accountName: '=Sum & Sons' },
      { accountName: "'Quoted'", billingAddress: { street: '1 "A", B', city: '-' } },
      { accountName: 'Plain', primaryContact: { phone: '+1 (512) 555-0142', email: 'a@example.com' } },
    ];
    for (const account of accounts) await from.post(account);
    const path = `/admin/v1/accounts?haulerId=${from.haulerId}&bom=true`;
    const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, Accept: 'text/csv' };
    const { text } = await service.call<string>('GET', path, { headers });
    const type = 'text/csv; charset=UTF-8; header=present';
    expect(countsOf((await send(text, { haulerId: from.haulerId, type })).body)).toEqual([3, 0, 3, 0, 0]);
    const to = await fresh();
    expect(countsOf((await send(text, { haulerId: to })).body)).toEqual([3, 0, 0, 0, 3]);
    const { body } = await send(text.replaceAll(from.haulerId, to), { haulerId: to });
    expect(countsOf(body)).toEqual([3, 3, 0, 0, 0]);
    const copied = await accountsOf(to);
    expect(copied.map(({ accountName }) => accountName).sort()).toEqual(["'Quoted'", '=Sum & Sons', 'Plain']);
    expect(copied.find(({ accountName }) => accountName === 'Plain')).toMatchObject(accounts[2]!);
    expect(copied.find(({ accountName }) => accountName === "'Quoted'")).toMatchObject(accounts[1]!);
  });

  test('many rows: the counts are exact, and the rows to correct are listed first', async () => {
    const haulerId = await fresh();
    const rows = Array.from({ length: 1_500 }, (_, i) => `Account ${i},${i % 500 === 499 ? 'Texas' : 'TX'}`);
    const { body } = await send(`accountName,billingAddress.state\n${rows.join('\n')}\n`, { haulerId });
    expect([countsOf(body), body.isComplete, body.data.length]).toEqual([[1_500, 1_497, 0, 0, 3], false, 1_000]);
    expect(body.data.slice(0, 4).map(({ line, result }) => [line, result])).toEqual([
      [501, 'invalid'],
      [1_001, 'invalid'],
      [1_501, 'invalid'],
      [2, 'created'],
    ]);
  });
});

describe('who may import, and what is logged', () => {
  test('is an action with its counts and without names; a dry run is none', async () => {
    const haulerId = await fresh();
    await send('accountName\nLogged\n', { haulerId, dryRun: true });
    await send('accountName\nLogged\n', { haulerId });
    const { body } = await service.admin<{ data: Action[] }>('GET', '/actions');
    const [action, before] = body.data;
    expect(action).toMatchObject({
      action: 'accounts.imported',
      resource: `hauler:${haulerId}`,
      changes: { rows: 1, created: 1, exists: 0, conflict: 0, invalid: 0 },
      sentence: expect.stringMatching(/imported accounts from a CSV: Test Hauling\.$/),
    });
    expect(JSON.stringify(action)).not.toContain('Logged');
    expect(before?.action).not.toBe('accounts.imported');
  });

  test('each account that is created is an event for webhooks', async () => {
    const haulerId = await fresh();
    const hook = { url: 'https://receiver.example/hook', topics: ['account.created'], haulerId };
    expect((await service.admin('POST', '/webhook-endpoints', hook)).status).toBe(201);
    await send('accountName\nOne\nTwo\nOne\n', { haulerId });
    const { body } = await service.admin<{ data: { topic: string }[] }>(
      'GET',
      `/webhook-deliveries?haulerId=${haulerId}`,
    );
    expect(body.data.map(({ topic }) => topic)).toEqual(['account.created', 'account.created']);
  });
});

test('a failure in the middle says what was written, and the same file can be imported again', async () => {
  const haulerId = await fresh();
  const release = await refuseAccount(service, 'Row 700');
  const file = `accountName\n${Array.from({ length: 1_000 }, (_, i) => `Row ${i}`).join('\n')}\n`;
  const { status, body } = await send(file, { haulerId });
  expect(status).toBe(503);
  expect(body.error.message).toMatch(
    /^the import ended after line 513 \(512 rows, 512 accounts created\); of the next 256 rows some may be created too\. Import the same file again/,
  );
  await release();
  const again = await send(file, { haulerId });
  expect(again.body.created + again.body.exists).toBe(1_000);
  expect(again.body.exists).toBeGreaterThanOrEqual(512);
});
