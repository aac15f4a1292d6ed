import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import type { CreateAccountResponse } from '../../../src/contracts/account/account.dto.js';
import { callerOf } from '../../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { answerOf as answer, commandsBeside, runCommand as run } from '../../support/command-line.js';
import { ACCEPTED, REFUSED, statusWithKey } from '../../support/key-status.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { testServer } from '../../support/test-run.js';

let service: TestApp;
let leave: () => void;
beforeAll(async () => {
  service = await startTestApp();
  leave = commandsBeside(service);
});
afterAll(async () => {
  leave();
  await service.close();
});

const api = async (path: string) => (await service.admin('GET', path)).body;

describe('key', () => {
  interface Key {
    readonly id: string;
    readonly key: string;
    readonly revokedAt: string | null;
  }
  let haulerId: string;
  beforeAll(async () => {
    haulerId = (await answer<{ id: string }>('hauler', 'create', '--name', 'By shell')).id;
  });

  const issue = (...more: string[]) =>
    answer<Key>('key', 'issue', '--interfaces', 'account', '--hauler-id', haulerId, ...more);

  test('issue shows a valid key once', async () => {
    const issued = await issue('--name', 'Gate', '--expires-at', '2099-01-01T00:00:00Z');
    const expected = { haulerId, interfaces: ['account'], name: 'Gate', expiresAt: '2099-01-01T00:00:00Z' };
    expect(issued).toMatchObject(expected);
    expect(await statusWithKey(service, issued.key)).toBe(ACCEPTED);
    const list = await run('key', 'list', '--hauler-id', haulerId);
    expect(list.out).toContain(issued.id);
    expect(list.out).not.toContain(issued.key);
  });

  test('issue takes several interfaces', async () => {
    const { code, out } = await run('key', 'issue', '--interfaces', 'site, vision', '--customer-id', 'c');
    expect(code).toBe(0);
    expect(out.match(/hb_[0-9A-Za-z]{49}/g)).toHaveLength(1);
    expect(out).toMatch(/^interfaces +site,vision$/m);
  });

  test('rotate keeps the old key for the overlap', async () => {
    const old = await issue();
    const next = await answer<Key>('key', 'rotate', old.id, '--overlap-seconds', '0');
    expect(await statusWithKey(service, old.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, next.key)).toBe(ACCEPTED);
    expect(await statusWithKey(service, old.key)).toBe(REFUSED);
  });

  test('revoke ends a key, which cannot be rotated after that', async () => {
    const { id } = await issue();
    expect(await run('key', 'revoke', id)).toEqual({ code: 0, out: '', err: '' });
    const { data } = await answer<{ data: Key[] }>('key', 'list', '--page-size', '1');
    expect(data[0]).toMatchObject({ id, revokedAt: expect.any(String) });
    expect(await run('key', 'rotate', id)).toMatchObject({ code: 1, out: '' });
  });
});

describe('ticket', () => {
  let house: ScaleHouse;
  let id: string;
  beforeAll(async () => {
    house = await ScaleHouse.open(service);
    const flow = (second: number) => ({ ticketNumber: 'IN-1', updatedAt: `2026-01-31T08:30:0${second}Z` });
    const body = JSON.stringify(house.ticket({ inboundFlow: flow(2), customFields: { truck: '42\u009b' }, later: 1 }));
    // JavaScript would write these numbers as 0, 12.5 and null.
    id = (await house.push(body.replace('12.5', '-0').replace('"later":1', '"later":[12.50,1e309]'))).body
      .disposalTicketId;
    await house.push(house.ticket({ inboundFlow: flow(1) }));
    await house.push(house.ticket({ outboundFlow: flow(3) }));
  });

  test('list, show and revisions return what the admin API does', async () => {
    expect(await answer('ticket', 'list')).toEqual(await api('/tickets'));
    expect(await answer('ticket', 'show', id)).toEqual(await api(`/tickets/${id}`));
    expect(await answer('ticket', 'revisions', id)).toEqual(await api(`/tickets/${id}/revisions`));
  });

  test('list filters by hauler, site, number and time, in pages', async () => {
    const count = async (...words: string[]) =>
      (await answer<{ data: unknown[] }>('ticket', 'list', '--hauler-id', house.haulerId, ...words)).data.length;
    expect(await count()).toBe(2);
    expect(await count('--page', '2', '--page-size', '1')).toBe(1);
    expect(await count('--ticket-number', 'IN-1', '--site-id', house.siteId)).toBe(2);
    expect(await count('--ticket-number', 'IN-2')).toBe(0);
    expect(await count('--from', '2026-01-31T08:30:00+01:00', '--to', '9999-01-01T00:00:00Z')).toBe(2);
    expect(await count('--to', '2000-01-01T00:00:00Z')).toBe(0);
  });

  test.each([[[]], [['--json']]])('numbers keep their digits (%j)', async (json) => {
    expect((await run('ticket', 'show', id, ...json)).out).toMatch(/"quantity": ?-0,/);
    const { out } = await run('ticket', 'revisions', id, ...json);
    expect(out.replace(/\s/g, '')).toContain('"later":[12.50,1e309]');
  });

  test('revisions for people are a table', async () => {
    const { out } = await run('ticket', 'revisions', id, '--page-size', '1');
    expect(out).toMatch(
      /^revision +receivedAt +result .*\bbody\b.*\n1 +\S+ +created .*\{.*\}.*\n2 in all, page 1 of 2\n$/,
    );
  });

  test('control characters in nested fields are printed as escapes', async () => {
    for (const words of [['show', id], ['list'], ['revisions', id]]) {
      const { out } = await run('ticket', ...words);
      expect(out).toContain('"truck":"42\\u009b"');
      expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe('account', () => {
  let haulerId: string;
  let created: CreateAccountResponse;
  beforeAll(async () => {
    const partner = await callerOf({ api: ACCOUNT_API, path: '/platform-api/v1/accounts' }, service);
    haulerId = partner.haulerId;
    const request = { accountName: 'Lone Star', billingAddress: { city: 'Waco' } };
    created = (await partner.post<CreateAccountResponse>(request)).body;
    await partner.post({ accountName: 'Green Valley' });
  });

  test('list and show return what the admin API does', async () => {
    expect(await answer('account', 'list')).toEqual(await api('/accounts'));
    expect(await answer('account', 'show', created.accountId)).toEqual(await api(`/accounts/${created.accountId}`));
  });

  test('list filters by hauler and by text, in pages', async () => {
    const names = async (...words: string[]) =>
      (await answer<{ data: { accountName: string }[] }>('account', 'list', ...words)).data.map(
        (each) => each.accountName,
      );
    expect(await names('--hauler-id', haulerId)).toEqual(['Green Valley', 'Lone Star']);
    expect(await names('--search', 'LONE star')).toEqual(['Lone Star']);
    expect(await names('--page', '2', '--page-size', '1')).toEqual(['Lone Star']);
  });
});

describe('account import', () => {
  test('shows counts and the rows to correct, and ends with 1 where there are some', async () => {
    const { id } = await answer<{ id: string }>('hauler', 'create', '--name', 'Importing');
    const file = join(mkdtempSync(join(testServer().folder, 'import-')), 'accounts.csv');
    writeFileSync(file, 'accountName,billingAddress.state\nBig Rock,TX\nBad,Texas\n');
    const dry = await run('account', 'import', file, '--hauler-id', id, '--dry-run');
    expect([dry.code, dry.out]).toEqual([
      1,
      expect.stringMatching(/3 +invalid +Bad +billingAddress\.state must be[^]*2 rows: 1 would be created, 0 exist/),
    ]);
    writeFileSync(file, 'accountName\nBig Rock\n');
    const done = await run('account', 'import', file, '--hauler-id', id);
    expect(done).toEqual({ code: 0, out: '1 rows: 1 created, 0 exist, 0 in conflict, 0 invalid\n', err: '' });
    writeFileSync(file, 'name\nBig Rock\n');
    const wrong = await run('account', 'import', file, '--hauler-id', id);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('did you mean accountName')]);
  });
});
