import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { createKey } from '../../../src/auth/api-key.js';
import { exchangeInFull } from '../../support/exchange-scene.js';
import { ScaleHouse, TICKETS } from '../../support/scale-house.js';
import { json, raw } from '../../support/scripted-partner.js';
import { PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';

/** A key that this service could have issued: it is recognised by its form alone. */
const { key: KEY } = createKey();
const READ_TOKEN = 'a-token-that-may-only-read';

let scene: SiteScene;
let house: ScaleHouse;
beforeAll(async () => {
  scene = await SiteScene.start({ env: { ADMIN_READ_TOKEN: READ_TOKEN } });
  await scene.renew();
  house = await ScaleHouse.open(scene.service);
});
afterAll(() => scene.stop());

const push = (body: unknown, headers: Record<string, string> = {}, path = TICKETS) =>
  scene.service.call<{ disposalTicketId: string }>('POST', path, {
    headers: { 'PLATFORM-API-KEY': house.key, ...headers },
    body,
  });
const read = async (path: string) =>
  (await scene.service.call('GET', `/admin/v1${path}`, { headers: { Authorization: `Bearer ${READ_TOKEN}` } })).text;

/** Every row of a table that this service stored, as text. */
async function stored(table: string): Promise<string> {
  await scene.service.app.get(ExchangeLog).flush();
  const rows = await scene.service.dataSource.query<{ row: string }[]>(`SELECT t::text AS row FROM ${table} AS t`);
  return rows.map(({ row }) => row).join('\n');
}

describe('a refused push is stored and logged without', () => {
  test('a key across the place where its body is cut', async () => {
    const body = { siteId: 'none', note: `${'x'.repeat(16_384 - 60)}${KEY}`, rest: 'y'.repeat(100_000) };
    expect((await push(body)).status).toBe(400);
    const found = await exchangeInFull(scene.service, { status: '400' });
    expect(found.request.body).toMatchObject({ truncated: true, redacted: true });
    expect(found.request.body?.text).not.toMatch(/hb_/);
    expect(found.request.body?.text).toHaveLength(16_384);
  });

  test.each([
    ['members', { nested: [{ apikey: 's3cret-1', 'X-Auth-Token': 's3cret-2', client_secret: ['s3cret-3'] }] }],
    ['members with the same name', '{"a":{"accessToken":"s3cret-4"},"a":1,"Authorization":"Bearer s3cret-5"}'],
    ['a damaged body', '{"a":1,"ApiKey":"s3cret-6'],
    ['a compressed body', gzipSync(JSON.stringify({ token: 's3cret-7', note: KEY })), { 'Content-Encoding': 'gzip' }],
    ['names of members', { [KEY]: { [`x${KEY}`]: 's3cret-free' } }],
    ['escapes', `{"note":"\\u0068b${KEY.slice(2)}","a":"${Buffer.from(`u:${KEY}`).toString('base64')}"}`],
    ['a form', `note=${KEY}&api_key=s3cret-8`],
    [
      'headers',
      {},
      { 'X-Request-Id': KEY, Referer: `/a?x=s3cret-9`, Cookie: 'a=s3cret-0', 'X-Auth-Token': 's3cret-a' },
    ],
    ['the administrators', {}, { Authorization: 'Bearer test-admin-token-0123456789', 'X-Note': '5a'.repeat(32) }],
  ])('secrets in %s', async (_what, body: unknown, headers: Record<string, string> = {}) => {
    expect((await push(body, headers)).status).toBe(400);
    const text = await stored('exchanges');
    expect(text.match(/s3cret-[0-9a-e]|hb_\w{12,}|test-admin-token|5a5a5a5a/g) ?? []).toEqual([]);
  });

  test('a key in a path', async () => {
    await push({}, {}, `${TICKETS}/${KEY}`);
    await push({}, {}, `${TICKETS}/%68b_${KEY.slice(3)}?x=${KEY}`);
    await scene.service.call('GET', `/nothing/${KEY}`);
    expect(await stored('exchanges')).not.toContain(KEY.slice(3));
  });
});

test('a key within an accepted push is read by nobody, with whichever token', async () => {
  const pushed = house.ticket({
    customFields: { note: `our key is ${KEY}`, [KEY]: 'x' },
    materials: [house.material({ name: KEY })],
    unknown: { deep: [KEY, { [KEY]: 1.5 }] },
  });
  const reply = await push(pushed, { 'X-Request-Id': KEY, 'Idempotency-Key': KEY });
  expect(reply.status).toBe(200);
  expect((await push(pushed, { 'Idempotency-Key': KEY })).headers.get('idempotency-replayed')).toBe('true');
  const { id: exchangeId } = await exchangeInFull(scene.service, {
    reference: `ticketId:${reply.body.disposalTicketId}`,
  });
  const path = `/tickets/${reply.body.disposalTicketId}`;
  for (const each of [
    '/tickets',
    path,
    `${path}/revisions`,
    `${path}/history`,
    '/exchanges',
    `/exchanges/${exchangeId}`,
  ]) {
    const text = await read(each);
    expect(text).toContain('data' in (JSON.parse(text) as object) ? '"data":[{' : reply.body.disposalTicketId);
    expect(text).not.toContain(KEY.slice(3));
  }
  expect(await read(path)).toContain('our key is [redacted]');
  // The raw push is kept as it was sent.
  expect(await stored('ticket_revisions')).toContain(KEY);
  expect((await stored('ticket_revisions')).split(KEY)).toHaveLength(JSON.stringify(pushed).split(KEY).length);
  for (const table of ['exchanges', 'idempotency_keys']) expect(await stored(table)).not.toContain(KEY);
});

test('what a partner returns is stored without its secrets and ours', async () => {
  const headers = {
    Location: '/clips/1.mp4?x=s3cret-1',
    Link: '</sites?page=2&y=s3cret-2>; rel="next"',
    'Set-Cookie': 'session=s3cret-3',
    'X-Auth-Token': 's3cret-4',
  };
  const record = { id: 'no uuid', note: KEY, accessToken: 's3cret-5', link: '/a?sig=s3cret-6', own: PARTNER_KEY };
  const data = { sites: [record], kiosks: [], materials: [], client_secret: { a: 's3cret-7' }, url: '/a?z=s3cret-8' };
  scene.partner.on(SITES_ROUTE, json({ success: true, data }, { headers }));
  await scene.service.admin('POST', `/connections/${scene.connectionId}/check`);
  const { id: runId } = await scene.sync();
  const message = `no key ${KEY} at /a?token=s3cret-9, password="s3cret-0"`;
  scene.partner.on(SITES_ROUTE, raw(JSON.stringify({ error: { code: KEY, message } }), { status: 400 }));
  await scene.service.admin('POST', `/connections/${scene.connectionId}/check`);
  const quarantine = await read(`/sync-runs/${runId}/quarantine`);
  expect(quarantine).toContain('[redacted]');
  const places = {
    quarantine,
    exchanges: await stored('exchanges'),
    issues: await stored('sync_issues'),
    connection: await stored('connections'),
    runs: await stored('sync_runs'),
  };
  const pattern = new RegExp(`s3cret-\\d|hb_\\w{12,}|${PARTNER_KEY}`, 'g');
  const found = Object.entries(places).map(([place, text]) => [place, text.match(pattern) ?? []]);
  expect(found).toEqual(Object.keys(places).map((place) => [place, []]));
});
