import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Connection } from '../../../src/contracts/admin/connection.dto.js';
import type { ReplayedExchange } from '../../../src/contracts/admin/replay.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { newestExchange } from '../../support/exchange-scene.js';
import type { Reply } from '../../support/http.js';
import { connectionRow, setConnectionRow } from '../../support/rows.js';
import { json, type ScriptedPartner, startScriptedPartner } from '../../support/scripted-partner.js';
import { makeConnectionDue } from '../../support/time.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const KEY = 'partner-key-5f0c1f2e7a3b';
const SITES_ROUTE = 'GET /scale-platform/v1/sites';
const EMPTY = json({ success: true, data: { sites: [], kiosks: [], materials: [] } });

let open: TestApp;
let haulerId: string;
beforeAll(async () => {
  open = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  haulerId = (await open.admin<{ id: string }>('POST', '/haulers', { name: 'Green Valley' })).body.id;
});
afterAll(async () => {
  await open.close();
});

const site = (more: object = {}) => ({
  haulerId,
  interface: 'site',
  baseUrl: 'https://partner.example.com',
  apiKey: KEY,
  // No partner answers in these tests, so the connection is not enabled.
  enabled: false,
  ...more,
});
const vision = (more: object = {}) => site({ interface: 'vision', ...more });
const create = async (body: object = site()): Promise<Connection> => {
  const reply = await open.admin<Connection>('POST', '/connections', body);
  expect(reply.status).toBe(201);
  return reply.body;
};
const paths = (reply: Reply): string[] =>
  (reply.body as { error: { details: { violations: { path: string }[] } } }).error.details.violations.map(
    ({ path }) => path,
  );

const stored = (id: string) => connectionRow(open, id);

describe('POST /admin/v1/connections', () => {
  test('returns the connection with its defaults, without its key', async () => {
    const reply = await open.admin<Connection>('POST', '/connections', site());
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.any(String),
      haulerId,
      interface: 'site',
      baseUrl: 'https://partner.example.com',
      customerId: null,
      intervalSeconds: 900,
      firstByteTimeoutSeconds: null,
      enabled: false,
      hasNextApiKey: false,
      nextRunAt: null,
      lastError: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect(reply.text).not.toContain(KEY);
    expect((await stored(reply.body.id)).sealedKey).toMatch(/^v1\./);
  });

  test('of Vision has an interval of 300 s, and the hauler as the customer, by default', async () => {
    expect(await create(vision())).toMatchObject({ intervalSeconds: 300, customerId: haulerId });
    expect(await create(vision({ customerId: 'gv', intervalSeconds: 30 }))).toMatchObject({
      intervalSeconds: 30,
      customerId: 'gv',
    });
  });

  test('makes an enabled site connection due at once; a Vision connection has no due time', async () => {
    const first = await create(site({ enabled: undefined, baseUrl: 'http://127.0.0.1:1' }));
    expect(first.enabled).toBe(true);
    expect(Date.parse(first.nextRunAt ?? '')).toBeLessThanOrEqual(Date.now());
    expect((await create(vision({ enabled: true }))).nextRunAt).toBeNull();
    await open.admin('DELETE', `/connections/${first.id}`);
  });

  test.each([
    ['https://partner.example.com/', 'https://partner.example.com'],
    ['https://Partner.Example.com:443/api/v2//', 'https://partner.example.com/api/v2'],
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ])('stores the address %s as %s', async (baseUrl, kept) => {
    expect((await create(site({ baseUrl }))).baseUrl).toBe(kept);
  });

  const refused: [string, object, string][] = [
    ['no hauler', { haulerId: undefined }, 'haulerId'],
    ['a hauler that is no uuid', { haulerId: 'x' }, 'haulerId'],
    ['an unknown hauler', { haulerId: UNKNOWN }, 'haulerId'],
    ['another interface', { interface: 'scale' }, 'interface'],
    ['no address', { baseUrl: undefined }, 'baseUrl'],
    ['an address that is none', { baseUrl: 'partner' }, 'baseUrl'],
    ['another scheme', { baseUrl: 'ftp://partner.example.com' }, 'baseUrl'],
    ['an address with a user', { baseUrl: 'https://u:p@partner.example.com' }, 'baseUrl'],
    ['an address with a query', { baseUrl: 'https://partner.example.com/?a=b' }, 'baseUrl'],
    ['an address with an empty query', { baseUrl: 'https://partner.example.com/?' }, 'baseUrl'],
    ['an address with a fragment', { baseUrl: 'https://partner.example.com/#x' }, 'baseUrl'],
    ['an address of 2,100 characters', { baseUrl: `https://partner.example.com/${'x'.repeat(2_100)}` }, 'baseUrl'],
    ['no key', { apiKey: undefined }, 'apiKey'],
    ['an empty key', { apiKey: '' }, 'apiKey'],
    ['a key with a line end', { apiKey: 'a\r\nX-Evil: 1' }, 'apiKey'],
    ['a key that no header can carry', { apiKey: 'schlüssel' }, 'apiKey'],
    ['a key that is a number', { apiKey: 7 }, 'apiKey'],
    ['a customer of a site connection', { customerId: 'gv' }, 'customerId'],
    ['an interval of a site connection under a minute', { intervalSeconds: 59 }, 'intervalSeconds'],
    ['an interval over a day', { intervalSeconds: 86_401 }, 'intervalSeconds'],
    ['an interval of a vision connection under 30 s', { interface: 'vision', intervalSeconds: 29 }, 'intervalSeconds'],
    ['half a second', { intervalSeconds: 60.5 }, 'intervalSeconds'],
    ['a first byte of a site connection', { firstByteTimeoutSeconds: 300 }, 'firstByteTimeoutSeconds'],
    ['a first byte after an hour', { interface: 'vision', firstByteTimeoutSeconds: 3_601 }, 'firstByteTimeoutSeconds'],
    ['enabled that is no boolean', { enabled: 'yes' }, 'enabled'],
  ];
  test.each(refused)('refuses %s', async (_, more, path) => {
    const reply = await open.admin('POST', '/connections', site(more));
    expect(reply.status).toBe(400);
    expect(paths(reply)).toEqual([path]);
    expect(reply.text).not.toContain(KEY);
  });

  test('reports all violations at once', async () => {
    const reply = await open.admin(
      'POST',
      '/connections',
      site({ baseUrl: 'x', intervalSeconds: 59, customerId: 'c' }),
    );
    expect(paths(reply).sort()).toEqual(['baseUrl', 'customerId', 'intervalSeconds']);
  });
});

describe('reading connections', () => {
  test('returns one by its id, and lists by hauler and interface, newest first', async () => {
    const { id: other } = (await open.admin<{ id: string }>('POST', '/haulers', { name: 'Other' })).body;
    const [a, b] = [await create(site({ haulerId: other })), await create(vision({ haulerId: other }))];
    expect((await open.admin<Connection>('GET', `/connections/${a.id}`)).body).toEqual(a);
    const list = async (query: string) =>
      (await open.admin<{ data: Connection[]; pagination: object }>('GET', `/connections?${query}`)).body;
    expect((await list(`haulerId=${other}`)).data).toEqual([b, a]);
    expect((await list(`haulerId=${other}&interface=site`)).data).toEqual([a]);
    expect(await list(`haulerId=${other}&pageSize=1&page=2`)).toMatchObject({
      data: [a],
      pagination: { page: 2, pageSize: 1, totalItems: 2, totalPages: 2 },
    });
    await setConnectionRow(open, a.id, { lastError: 'refused' });
    const ids = async (query: string) => (await list(query)).data.map(({ id }) => id);
    expect(await ids(`haulerId=${other}&failing=true`)).toEqual([a.id]);
    expect(await ids(`haulerId=${other}&failing=false`)).toEqual([b.id]);
  });

  test.each([
    ['GET', `/connections/${UNKNOWN}`, 404],
    ['PATCH', `/connections/${UNKNOWN}`, 404],
    ['DELETE', `/connections/${UNKNOWN}`, 404],
    ['POST', `/connections/${UNKNOWN}/check`, 404],
    ['GET', '/connections/seven', 400],
    ['GET', '/connections?pageSize=101', 400],
    ['GET', '/connections?interface=scale', 400],
  ])('%s %s returns %d', async (method, path, status) => {
    expect((await open.admin(method, path, method === 'PATCH' ? {} : undefined)).status).toBe(status);
  });
});

describe('PATCH /admin/v1/connections/{id}', () => {
  test('changes the given fields only', async () => {
    const before = await create();
    const reply = await open.admin<Connection>('PATCH', `/connections/${before.id}`, { intervalSeconds: 60 });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...before, intervalSeconds: 60, updatedAt: expect.any(String) });
  });

  test('seals the keys, and shows only whether there is a next one', async () => {
    const { id } = await create();
    const before = await stored(id);
    const reply = await open.admin<Connection>('PATCH', `/connections/${id}`, { nextApiKey: `${KEY}-next` });
    expect(reply.body.hasNextApiKey).toBe(true);
    expect(reply.text).not.toContain(KEY);
    const next = await stored(id);
    expect(next).toMatchObject({ sealedKey: before.sealedKey, sealedNextKey: expect.stringMatching(/^v1\./) });
    await open.admin('PATCH', `/connections/${id}`, { apiKey: `${KEY}-other` });
    const after = await stored(id);
    expect(after.sealedKey).not.toBe(before.sealedKey);
    expect(after.sealedNextKey).toBe(next.sealedNextKey);
  });

  test('does not move the next run for an unchanged field or an interval, but for a new key, which resets the attempts', async () => {
    const { id } = await create(site({ enabled: true, baseUrl: 'http://127.0.0.1:1' }));
    // Its first run, which may be in progress, loses its row.
    await setConnectionRow(open, id, { attempts: 2, isRunning: false });
    await makeConnectionDue(open, id, 3_600);
    const dueInMs = async (body: object) =>
      Date.parse((await open.admin<Connection>('PATCH', `/connections/${id}`, body)).body.nextRunAt ?? '') - Date.now();
    expect(await dueInMs({ enabled: true })).toBeGreaterThan(1_800_000);
    expect(await dueInMs({ intervalSeconds: 60 })).toBeGreaterThan(1_800_000);
    expect(await dueInMs({ nextApiKey: KEY })).toBeLessThan(1_800_000);
    expect((await stored(id)).attempts).toBeLessThan(2);
    await open.admin('DELETE', `/connections/${id}`);
  });

  test('never makes a Vision connection due', async () => {
    const { id } = await create(vision());
    for (const body of [{ enabled: true }, { apiKey: `${KEY}-other` }, { intervalSeconds: 60 }]) {
      expect((await open.admin<Connection>('PATCH', `/connections/${id}`, body)).body.nextRunAt).toBeNull();
    }
    expect((await stored(id)).dueAt).toBeNull();
  });

  test('takes the same address with a slash at its end as unchanged', async () => {
    const { id } = await create(site({ enabled: true, baseUrl: 'http://127.0.0.1:1' }));
    await makeConnectionDue(open, id, 3_600);
    const nextRunAfter = async (baseUrl: string) =>
      Date.parse((await open.admin<Connection>('PATCH', `/connections/${id}`, { baseUrl })).body.nextRunAt ?? '');
    expect(await nextRunAfter('http://127.0.0.1:1/')).toBeGreaterThan(Date.now() + 60_000);
    expect(await nextRunAfter('http://127.0.0.1:1/other')).toBeLessThan(Date.now() + 60_000);
  });

  test.each<[string, object, string]>([
    ['an address with a query', { baseUrl: 'https://partner.example.com/?' }, 'baseUrl'],
    ['a customer of a site connection', { customerId: 'gv' }, 'customerId'],
    ['a too short interval', { intervalSeconds: 30 }, 'intervalSeconds'],
    ['a next key with a blank at its end', { nextApiKey: 'key ' }, 'nextApiKey'],
  ])('refuses %s and changes nothing', async (_, body, path) => {
    const before = await create();
    const reply = await open.admin('PATCH', `/connections/${before.id}`, { ...body, enabled: true });
    expect(reply.status).toBe(400);
    expect(paths(reply)).toEqual([path]);
    expect((await open.admin('GET', `/connections/${before.id}`)).body).toEqual(before);
  });
});

describe('DELETE /admin/v1/connections/{id}', () => {
  test('deletes the keys and hides the connection; the row stays for the data that came through it', async () => {
    const { id } = await create();
    await open.admin('PATCH', `/connections/${id}`, { nextApiKey: KEY });
    // The state during a run that an admin has requested.
    await setConnectionRow(open, id, { isRequested: true, isRunning: true });
    await makeConnectionDue(open, id, 3_600);
    expect(await open.admin('DELETE', `/connections/${id}`)).toMatchObject({ status: 204, text: '' });
    expect(await stored(id)).toMatchObject({
      sealedKey: '',
      sealedNextKey: null,
      dueAt: null,
      isRequested: false,
      isRunning: false,
    });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/check'],
    ] as const) {
      const reply = await open.admin(method, `/connections/${id}${path}`, method === 'PATCH' ? {} : undefined);
      expect(reply.status).toBe(404);
    }
    const { body } = await open.admin<{ data: Connection[] }>('GET', '/connections?pageSize=100');
    expect(body.data.map((connection) => connection.id)).not.toContain(id);
  });
});

describe("a partner's key and its origin, beyond acceptance/site/keys.spec.ts", () => {
  const OTHER_KEY = 'partner-key-of-the-other-host';
  let first: ScriptedPartner;
  let other: ScriptedPartner;
  beforeAll(async () => {
    [first, other] = [await startScriptedPartner(), await startScriptedPartner()];
  });
  const connect = async () => (await create(site({ baseUrl: first.url }))).id;
  const change = (id: string, body: object) => open.admin<Connection>('PATCH', `/connections/${id}`, body);
  const check = (id: string) => open.admin('POST', `/connections/${id}/check`);
  const keysAt = ({ asked }: ScriptedPartner) => [...new Set(asked.map(({ headers }) => headers['api-key']))];

  test('two concurrent changes do not join the key of one with the address of the other', async () => {
    for (let i = 0; i < 20; i++) {
      const id = await connect();
      await Promise.all([
        change(id, { baseUrl: other.url, apiKey: OTHER_KEY }),
        change(id, { baseUrl: `${first.url}/path` }),
      ]);
      await check(id);
    }
    expect(keysAt(other)).toEqual([OTHER_KEY]);
    expect(keysAt(first)).not.toContain(OTHER_KEY);
  });

  test('a replay of an earlier call goes to the present origin, with its key', async () => {
    const id = await connect();
    first.on(SITES_ROUTE, EMPTY);
    await check(id);
    const { id: exchangeId } = await newestExchange(open, { connectionId: id });
    await change(id, { baseUrl: other.url, apiKey: OTHER_KEY });
    other.on(SITES_ROUTE, EMPTY);
    const before = first.asked.length;
    other.asked.length = 0;
    const { body } = await open.admin<ReplayedExchange>('POST', `/exchanges/${exchangeId}/replay`);
    expect(body.status).toBe(200);
    expect([first.asked.length, keysAt(other)]).toEqual([before, [OTHER_KEY]]);
  });
});
