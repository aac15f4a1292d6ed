import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCOUNT_API } from '../../src/contracts/accounts/account.api.js';
import type { CreateAccountResponse } from '../../src/contracts/accounts/account.dto.js';
import { callerOf, type Caller } from '../shared/hosted-endpoint.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf, commandsBeside, runCommand } from '../support/command-line.js';

interface List {
  readonly data: { readonly accountName: string }[];
  readonly pagination: object;
}

let service: TestApp;
let leave: () => void;
let partner: Caller;
let other: Caller;
let created: CreateAccountResponse;

beforeAll(async () => {
  service = await startTestApp();
  leave = commandsBeside(service);
  const endpoint = { api: ACCOUNT_API, path: '/platform-api/v1/accounts' };
  partner = await callerOf(endpoint, service);
  other = await callerOf(endpoint, service);
  const request = { accountName: 'Lone Star', billingAddress: { city: 'Waco' } };
  created = (await partner.post<CreateAccountResponse>(request)).body;
  await partner.post({ accountName: 'Green Valley' });
  await other.post({ accountName: 'lone star two' });
});
afterAll(async () => {
  leave();
  await service.close();
});

const names = ({ data }: List) => data.map(({ accountName }) => accountName);

describe('account list', () => {
  test('answers as the admin API does', async () => {
    const { body } = await service.admin('GET', '/accounts');
    expect(await answerOf('account', 'list')).toEqual(body);
  });

  test('of a hauler, of a search, in pages', async () => {
    const list = (...words: string[]) => answerOf<List>('account', 'list', ...words);
    expect(names(await list('--hauler-id', partner.haulerId))).toEqual(['Green Valley', 'Lone Star']);
    expect(names(await list('--search', 'LONE star'))).toEqual(['lone star two', 'Lone Star']);
    expect(names(await list('--search', 'lone', '--hauler-id', other.haulerId))).toEqual(['lone star two']);
    expect(names(await list('--page', '2', '--page-size', '2'))).toEqual(['Lone Star']);
  });

  test('for people is a table that shows what any of the accounts has', async () => {
    const { code, out } = await runCommand('account', 'list');
    expect(code).toBe(0);
    const [head = '', ...rows] = out.split('\n');
    expect(head).toMatch(/^accountId +accountNumber +accountName .*billingAddress/);
    expect(rows[0]).toContain('lone star two');
    expect(out).toContain('"city":"Waco"');
    expect(out).toContain('3 in all, page 1 of 1');
  });

  test.each([
    ['--page', '0'],
    ['--page-size', '101'],
    ['--hauler-id', 'x'],
    ['--search', ' '],
  ])('%s %j is wrong usage', async (option, value) => {
    expect(await runCommand('account', 'list', option, value)).toMatchObject({ code: 2, out: '' });
  });
});

describe('account show', () => {
  test('answers as the admin API does', async () => {
    const { body } = await service.admin('GET', `/accounts/${created.accountId}`);
    expect(await answerOf('account', 'show', created.accountId)).toEqual(body);
  });

  test('of an unknown account fails, of no uuid is wrong usage', async () => {
    expect(await runCommand('account', 'show', '00000000-0000-4000-8000-000000000000')).toMatchObject({ code: 1 });
    expect(await runCommand('account', 'show', 'A-1')).toMatchObject({ code: 2 });
  });
});

test.each(['list', 'show'])('account %s --help explains itself', async (word) => {
  const { code, out } = await runCommand('account', word, '--help');
  expect(code).toBe(0);
  expect(out).toContain('--json');
});
