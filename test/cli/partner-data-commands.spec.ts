import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runCommandLine } from '../../src/cli/program.js';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import type { CreateAccountResponse } from '../../src/contracts/account/account.dto.js';
import { callerOf } from '../shared/post-endpoint.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { answerOf as answer, commandsBeside, runCommand as run } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { newestExchange } from '../support/exchange-scene.js';
import { CLOSED, doorOf, OPEN } from '../support/knock.js';
import { ScaleHouse } from '../support/scale-house.js';

let service: TestApp;
let leave: () => void;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  leave = commandsBeside(service);
  ({ key } = await issueKey(service, ['account']));
  for (const accountName of ['First', 'first', 'Second\u001b[2J']) {
    await service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key },
      body: { accountName },
    });
  }
});
afterAll(async () => {
  leave();
  await service.close();
});

test('exchange list prints one line for each exchange, in 100 columns', async () => {
  const { id } = await newestExchange(service, { status: '4xx' });
  const { code, out } = await run('exchange', 'list');
  const lines = out.trimEnd().split('\n');
  expect([code, lines.length]).toEqual([0, 3]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
  expect(lines[1]).toMatch(new RegExp(`in +createAccount +409 +NAME_TAKEN +${id}$`));
  const page = await run('exchange', 'list', '--page-size', '2');
  expect(page.out).toMatch(/^more: --cursor \S+$/m);
});

test('exchange show explains an exchange', async () => {
  const { id } = await newestExchange(service, { status: '4xx' });
  const { code, out } = await run('exchange', 'show', id);
  expect(code).toBe(0);
  expect(out).toMatch(/^The call POST \/platform-api\/v1\/accounts received 409\./);
  expect(out).toContain('accountName:first');
  expect(out).toContain('{"accountName":"first"}');
  expect(out).not.toContain(key);
  const json = await run('exchange', 'show', id, '--json');
  expect(JSON.parse(json.out)).toMatchObject({ id, status: 409 });
});

test('exchange tail prints the newest last', async () => {
  const newest = await newestExchange(service, {});
  const { code, out } = await run('exchange', 'tail');
  expect(code).toBe(0);
  expect(out.trimEnd().split('\n').at(-1)).toContain(newest.id);
  expect((await run('exchange', 'tail', '--status', 'nonsense')).code).toBe(2);
});

test('exchange tail --follow prints each later exchange once, when it is written', async () => {
  const watched = await startTestApp({ on: service });
  const printed: string[] = [];
  const streams = { out: (text: string) => void printed.push(text), err: () => undefined };
  const local = { url: watched.url, token: service.env.ADMIN_TOKEN };
  const following = runCommandLine(['exchange', 'tail', '--follow', '--interface', 'account'], streams, local);
  await eventually(async () => expect(printed.length).toBeGreaterThanOrEqual(3));
  const before = printed.length;
  const headers = { 'PLATFORM-API-KEY': key };
  for (const accountName of ['Third', 'Fourth']) {
    await service.call('POST', '/platform-api/v1/accounts', { headers, body: { accountName } });
  }
  const newest = await newestExchange(service, {});
  await eventually(async () => expect(printed.at(-1)).toContain(newest.id));
  expect([printed.length, new Set(printed).size]).toEqual([before + 2, before + 2]);
  await watched.close();
  expect(await following).toBe(1);
});

test('exchange replay sends one again and prints both answers, or many by filter', async () => {
  const { id } = await newestExchange(service, { status: '4xx' });
  const { code, out } = await run('exchange', 'replay', id);
  expect(code).toBe(0);
  const replayed = await newestExchange(service, { status: '4xx' });
  expect(out).toMatch(new RegExp(`^replayed as ${replayed.id}: 409\n\nearlier answer: 409`));
  expect(out).toContain('answer now: 409');
  expect(replayed.replayOf).toBe(id);
  const dry = await run('exchange', 'replay', '--status', '409', '--dry-run');
  expect(dry.out).toBe(`skipped ${replayed.id}\n  it is a replay of ${id}\n2 matched, 0 replayed, 1 skipped\n`);
  const json = await run('exchange', 'replay', '--status', '409', '--json');
  expect(JSON.parse(json.out)).toMatchObject({ matched: 2, replayed: 1 });
  const wrong = await run('exchange', 'replay', id, '--status', '409');
  expect([wrong.code, wrong.err]).toEqual([2, 'error: --status cannot be used with an id\n']);
  expect((await run('exchange', 'replay')).code).toBe(2);
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
    expect(await doorOf(service, issued.key)).toBe(OPEN);
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
    expect(await doorOf(service, old.key)).toBe(OPEN);
    expect(await doorOf(service, next.key)).toBe(OPEN);
    expect(await doorOf(service, old.key)).toBe(CLOSED);
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
    expect(out).toMatch(/^revision +receivedAt +result +body\b.*\n1 +\S+ +created +\{.*\}.*\n2 in all, page 1 of 2\n$/);
  });

  test('control characters in nested fields do not reach the terminal', async () => {
    for (const words of [['show', id], ['list'], ['revisions', id]]) {
      const { out } = await run('ticket', ...words);
      expect(out).toContain('"truck":"42 "');
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
