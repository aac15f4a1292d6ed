import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../../support/raw-request.js';
import { Hauler } from '../support/hauler.js';
import { administer, target } from '../support/target.js';

/** More than a page has. */
const ACCOUNTS = 23;
const PAGE = 20;

let hauler: Hauler;
beforeAll(async () => {
  hauler = await Hauler.create();
  for (let n = 0; n < ACCOUNTS; n++) await hauler.createAccount({ accountName: `Account ${n}` });
});

/** The list of the accounts, with headers as name and value by turns. */
const accounts = (...headers: string[]) => listOf(`/accounts?haulerId=${hauler.id}`, ...headers);
const listOf = (path: string, ...headers: string[]) =>
  rawRequest(`${target.url}/admin/v1${path}`, 'GET', ['Authorization', `Bearer ${target.adminToken}`, ...headers]);

describe('a list is whole as CSV or NDJSON, or a page of JSON (decision 10)', () => {
  test.each([
    ...['text/csv', 'text/csv; charset=utf-8', 'text/csv;charset=UTF-8;header=present', 'Text/CSV; Header=present'],
    ...['text/csv; charset=iso-8859-1', 'text/csv; header=absent', 'text/csv; charset="utf-8"; q=1.0', 'text/csv;'],
    ...['application/json;q=0.5, text/csv; charset=utf-8;q=0.9', '*/*;q=0.1,text/csv;charset=utf-8', 'text/*'],
    ...['text/html;level="1,2", text/csv; charset=utf-8', 'text/csv;q=high'],
  ])('CSV: %s', async (accept) => {
    const { status, headers, text } = await accounts('Accept', accept);
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    expect(parse(text)).toHaveLength(ACCOUNTS + 1);
  });

  test('CSV where the types come in two lines', async () => {
    const { headers, text } = await accounts('Accept', 'text/html', 'accept', 'text/csv; charset=utf-8');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(parse(text)).toHaveLength(ACCOUNTS + 1);
  });

  test.each([
    ...['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON', '*/*', '', 'text/html'],
    ...['text/csv;q=0, */*', 'text/csv; charset=utf-8; q=0.000, application/json', 'text/csv;q=0.2, application/json'],
  ])('JSON: %s', async (accept) => {
    const { status, headers, text } = await accounts('Accept', accept);
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect((JSON.parse(text) as { data: unknown[] }).data).toHaveLength(PAGE);
  });

  test.each([
    ...['application/x-ndjson', 'application/x-ndjson; charset=utf-8', 'Application/X-NDJSON;charset="UTF-8"'],
    'application/json;q=0.1, application/x-ndjson; charset=utf-8; q=0.8',
  ])('NDJSON: %s', async (accept) => {
    for (let n = 0; n <= PAGE; n++) await administer('POST', '/haulers', { name: `Hauler ${n}` });
    const { status, headers, text } = await listOf('/actions', 'Accept', accept);
    expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
    expect(text.trimEnd().split('\n').length).toBeGreaterThan(PAGE);
  });
});

test.each([
  ['a list without CSV', '/shares', 'text/csv; charset=utf-8'],
  ['a list without NDJSON', '/accounts', 'application/x-ndjson'],
  ['a record', '/attention', 'text/csv, application/x-ndjson;q=0.1'],
])('%s is 406 where nothing else is accepted, and JSON where it is (decision 10)', async (_, path, accept) => {
  const refused = await listOf(path, 'Accept', accept);
  expect([refused.status, refused.text]).toEqual([406, expect.stringContaining('accept application/json')]);
  expect((await listOf(path, 'Accept', `${accept}, */*;q=0.1`)).status).toBe(200);
});

test.each(['text/csv', 'TEXT/CSV; charset="UTF-8"; header=present', 'text/csv; charset=utf-8; delimiter=","'])(
  'an import reads a body of the type %s (decision 10)',
  async (type) => {
    const path = `/admin/v1/accounts/import?haulerId=${(await Hauler.create()).id}`;
    const headers = ['Authorization', `Bearer ${target.adminToken}`, 'Content-Type', type];
    const { status, text } = await rawRequest(target.url + path, 'POST', headers, 'accountName\nAcme\n');
    expect([status, text]).toEqual([200, expect.stringContaining('"rows":1')]);
  },
);
