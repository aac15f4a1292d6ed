import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { randomUUID } from 'node:crypto';
import type { HistoryEntry } from '../../../src/contracts/admin/history.dto.js';
import type { List } from '../../../src/contracts/admin/list.dto.js';
import type { Overview, OverviewHour } from '../../../src/contracts/admin/overview.dto.js';
import type { Reference } from '../../../src/contracts/common/references.js';
import { minUuidv7Of } from '../../../src/database/uuid.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { historyPage } from '../../../src/exchanges/exchange-history.service.js';
import { ExchangeHours } from '../../../src/exchanges/exchange-hours.repository.js';
import { type ExchangeFilter, listSql, parametersOf } from '../../../src/exchanges/exchange-list.sql.js';
import { storedReferences } from '../../../src/exchanges/exchange-references.rules.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { ExchangeRetention } from '../../../src/exchanges/exchange-retention.job.js';
import { ExchangesRepository } from '../../../src/exchanges/exchanges.repository.js';
import { StoredHours } from '../../../src/vision/recordings/recordings.service.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { newestExchange } from '../../support/exchange-scene.js';
import { sampleVideo } from '../../support/sample-video.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';
import { json, refuses } from '../../support/scripted-partner.js';
import { SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { orderVideo, readRequest, requestBecomes } from '../../support/video-requests.js';
import {
  accepts,
  element,
  lists,
  POST,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../../support/scripted-vision.js';
import { hurryVideo } from '../../support/time.js';
import { connectVision } from '../../support/vision-partner.js';
import { createExchangeDays, daysAgo } from '../../support/exchange-days.js';
import { PartitionPlanner } from '../../../src/database/partition-planner.js';

let service: TestApp;
const haulers: string[] = [];
const keys: string[] = [];

beforeAll(async () => {
  service = await startTestApp();
  for (let i = 0; i < 2; i++) {
    const { key, haulerId } = await issueKey(service, ['account']);
    haulers.push(haulerId);
    keys.push(key);
  }
  for (let i = 0; i < 6; i++) await createAccount(keys[i % 2] ?? '', i < 4 ? `Account ${i}` : '');
});
afterAll(() => service.close());

const createAccount = (key: string, accountName: string) =>
  service.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key }, body: { accountName } });

describe('the list', () => {});

test('days before the retention are dropped, and the next days exist', async () => {
  const names = async () =>
    (
      await service.dataSource.query<{ name: string }[]>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'exchanges'::regclass ORDER BY 1`,
      )
    ).map(({ name }) => name);
  await createExchangeDays(service.dataSource, new Date('2020-01-01'), new Date('2020-01-02'));
  expect(await names()).toContain('exchanges_20200101');
  await service.app.get(ExchangeRetention).maintain();
  await service.app.get(PartitionPlanner).plan();
  const kept = await names();
  expect(kept).not.toContain('exchanges_20200101');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  expect(kept).toContain(`exchanges_${tomorrow}`);
});

test('the list has a call as soon as its caller has the answer', async () => {
  const { key } = await issueKey(service, ['account']);
  for (let i = 0; i < 5; i++) {
    const { headers } = await createAccount(key, '');
    const address = `/exchanges?requestId=${headers.get('x-request-id')}`;
    expect((await service.admin<{ data: unknown[] }>('GET', address)).body.data).toHaveLength(1);
  }
});

const COUNT = 20_000;
const HAULER = randomUUID();
const KEY = randomUUID();

let database: TestDatabase;
let db: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await database.connect();
  await db.query(`INSERT INTO haulers (id, name) VALUES ($1, 'A hauler')`, [HAULER]);
  await db.query(
    `INSERT INTO api_keys (id, hash, prefix, hauler_id, interfaces, created_at) VALUES ($1, $2, 'hb_00000000', $3, '{scale}', now())`,
    [KEY, Buffer.alloc(32, 1), HAULER],
  );
  await db.query(
    `INSERT INTO exchanges (id, hauler_id, request_bytes, response_bytes, duration_ms, status, request_form, response_form,
       in_revision, direction, interface, method, path, request_headers, error_code, request_id, api_key_id)
     SELECT (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid,
       CASE WHEN i % 10 = 0 THEN gen_random_uuid() ELSE $1::uuid END, 1, 1, 1, CASE WHEN i % 50 = 0 THEN 422 ELSE 200 END, 0, 0,
       true, 'inbound', 'scale', 'POST', '/', repeat('x', 400), CASE WHEN i % 50 = 0 THEN 'VALIDATION_ERROR' END, i::text, $3::uuid
     FROM (SELECT i, lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - i % 1000), 12, '0') AS hex
             FROM generate_series(1, $2::int) AS i) AS t`,
    [HAULER, COUNT, KEY],
  );
  await db.query('ANALYZE exchanges');
});
afterAll(() => database.drop());

test.each<[string, ExchangeFilter]>([
  ['a hauler', { haulerId: HAULER }],
  ['a hauler and 200', { haulerId: HAULER, status: [200, 200] }],
  ['a hauler and 4xx', { haulerId: HAULER, status: [400, 499] }],
  ['a hauler and 5xx without any', { haulerId: HAULER, status: [500, 599] }],
  ['a hauler and an interface without any', { haulerId: HAULER, interface: 'vision' }],
  ['outbound calls without any', { direction: 'outbound' }],
  ['a class of statuses', { status: [400, 499] }],
  ['no response', { status: [0, 0] }],
  ['an error code', { errorCode: 'VALIDATION_ERROR' }],
  ['a reason', { reason: 'VALIDATION_ERROR' }],
  ['a reason without any', { reason: 'timed-out' }],
  ['failed exchanges', { failed: true }],
  ['failed outbound calls without any', { failed: true, direction: 'outbound' }],
  ['a request id', { requestId: '77' }],
  ['an API key', { apiKeyId: KEY }],
  ['the API key of another hauler', { apiKeyId: KEY, haulerId: randomUUID() }],
])('a page of %s reads few blocks of a large table, and compiles nothing by default', async (_what, filter) => {
  type Blocks = { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
  const rows = await db.transaction(async (manager) => {
    await manager.query('SET LOCAL jit = on');
    return manager.query<[{ 'QUERY PLAN': [{ Plan: Blocks; JIT?: object }] }]>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${listSql(filter)}`,
      parametersOf(filter, 21),
    );
  });
  const { Plan, JIT } = rows[0]['QUERY PLAN'][0];
  expect(JIT).toBeUndefined();
  expect(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']).toBeLessThan(1_000);
});

const HOUR_MS = 3_600_000;

test('a shared value is found behind many newer exchanges, in each hour and day, alone and with a hauler', async () => {
  const reference: Reference = { kind: 'truckId', value: '42' };
  const store = async (hoursAgo: number, haulerId: string, stored: Reference = reference) => {
    const id = minUuidv7Of(Date.now() - hoursAgo * HOUR_MS);
    await db.query(
      `INSERT INTO exchanges (id, hauler_id, request_bytes, response_bytes, duration_ms, status, request_form, response_form,
         in_revision, direction, interface, method, path, request_headers, refs)
       VALUES ($1, $2, 1, 1, 1, 200, 0, 0, true, 'outbound', 'vision', 'GET', '/', '{}', $3)`,
      [id, haulerId, storedReferences(haulerId, [stored])],
    );
    return id;
  };
  await createExchangeDays(db, daysAgo(3), daysAgo(0));
  const other = randomUUID();
  const [first, second, third] = [await store(1, HAULER), await store(26, other), await store(50, HAULER)];
  await store(2, HAULER, { kind: 'truckId', value: '421' });
  const exchanges = new ExchangesRepository(db);
  const found = async (filter: ExchangeFilter, limit = 10) =>
    (await exchanges.find({ reference, ...filter }, limit)).map(({ id }) => id);
  expect(await found({})).toEqual([first, second, third]);
  expect(await found({}, 2)).toEqual([first, second]);
  expect(await found({ before: second })).toEqual([third]);
  expect(await found({ haulerId: HAULER })).toEqual([first, third]);
  expect(await found({ haulerId: other })).toEqual([second]);
  expect(await found({ haulerId: other, direction: 'inbound' })).toEqual([]);
  expect(await found({ from: Date.now() - 30 * HOUR_MS, to: Date.now() - 20 * HOUR_MS })).toEqual([second]);
  await exchanges.indexReferences();
  expect(await found({})).toEqual([first, second, third]);
  const named = await exchanges.naming(HAULER, [{ kind: 'ticketId', value: '1' }, reference], 10);
  expect(named.map(({ id }) => id)).toEqual([first, third]);
});

let scene: SandboxScene;
beforeAll(async () => void (scene = await startSandboxScene()));
afterAll(() => scene.service.close());

const push = (ticketNumber: string, minute: number, quantity: unknown, key = scene.platformKey) =>
  scene.service.call('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': key },
    body: {
      siteId: DEMO.siteId,
      materials: [{ id: DEMO.materialId, name: 'Debris', quantity, unitOfMeasure: 'Ton' }],
      inboundFlow: { ticketNumber, updatedAt: `2026-11-20T14:0${minute}:00Z` },
    },
  });

async function overview(): Promise<Overview> {
  await scene.service.app.get(ExchangeLog).flush();
  return (await scene.service.admin<Overview>('GET', '/overview')).body;
}

const sum = (hours: readonly OverviewHour[], read: (hour: OverviewHour) => number): number =>
  hours.reduce((total, hour) => total + read(hour), 0);

describe('the overview', () => {
  it('counts the pushes of the last 24 hours by result, and refused ones by reason', async () => {
    await push('IN-1', 1, 1);
    await push('IN-1', 2, 2);
    await push('IN-1', 2, 2);
    await push('IN-1', 0, 3);
    for (let i = 0; i < 3; i++) await push('IN-2', 1, 'many');
    const refused = await push('IN-2', 1, 1, 'hb_not-a-key');
    const { hours, refusedPushes, ...rest } = await overview();
    expect(rest.exchangeLog).toBe('all');
    expect(hours).toHaveLength(24);
    expect(Date.parse(rest.to) - Date.parse(rest.from)).toBe(24 * HOUR_MS);
    expect(hours[0]?.startTime).toBe(rest.from);
    const names = ['created', 'updated', 'unchanged', 'stale', 'refused'] as const;
    expect(names.map((name) => sum(hours, ({ tickets }) => tickets[name]))).toEqual([1, 1, 1, 1, 4]);
    expect(sum(hours, ({ exchanges }) => exchanges.refused)).toBe(4);
    expect(sum(hours, ({ exchanges }) => exchanges.succeeded)).toBe(4);
    expect(refusedPushes).toEqual([
      expect.objectContaining({ interface: 'scale', status: 400, count: 3, errorCode: 'INVALID_PAYLOAD' }),
      expect.objectContaining({ interface: 'scale', status: 401, count: 1 }),
    ]);
    const last = await scene.service.admin<{ requestId: string }>(
      'GET',
      `/exchanges/${refusedPushes[1]?.lastExchangeId}`,
    );
    expect(last.body.requestId).toBe(refused.headers.get('x-request-id'));
  });

  it('counts on over several batches, and forgets days beyond the retention', async () => {
    const before = sum((await overview()).hours, ({ tickets }) => tickets.unchanged);
    await push('IN-1', 2, 2);
    expect(sum((await overview()).hours, ({ tickets }) => tickets.unchanged)).toBe(before + 1);
    const hours = scene.service.app.get(ExchangeHours);
    await hours.deleteOld(1);
    expect((await hours.counts(new Date(0))).size).toBeGreaterThan(0);
    await hours.deleteOld(-1);
    expect((await hours.counts(new Date(0))).size).toBe(0);
  });

  it('counts stored recordings by the hour of their download, of all connections', async () => {
    const stored = new StoredHours(scene.service.dataSource);
    const start = Date.parse('2026-11-20T10:00:00Z');
    const add = (at: number, recordings: number) =>
      scene.service.dataSource.query('INSERT INTO stored_hours VALUES ($1, $2, $3, $4)', [
        ...[scene.haulerId, randomUUID(), new Date(at), recordings],
      ]);
    await add(start - HOUR_MS, 1);
    for (const recordings of [1, 2]) await add(start, recordings);
    await add(start + HOUR_MS, 4);
    expect([...(await stored.counts(new Date(start)))].slice(0, 2)).toEqual([
      [start, 3],
      [start + HOUR_MS, 4],
    ]);
  });
});

async function historyOf(service: TestApp, path: string): Promise<HistoryEntry[]> {
  await service.app.get(ExchangeLog).flush();
  const { status, body } = await service.admin<List<HistoryEntry>>('GET', `${path}/history?pageSize=100`);
  expect(status).toBe(200);
  const times = body.data.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  return body.data.reverse();
}

describe('of a ticket and an account', () => {
  let scene: SandboxScene;
  beforeAll(async () => {
    scene = await startSandboxScene();
  });
  afterAll(() => scene.service.close());

  const flow = (ticketNumber: string, second: number) => ({
    ticketNumber,
    updatedAt: `2026-11-20T14:00:0${second}Z`,
  });
  const material = { id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };

  test('shows each push with its request id, key, result and difference, and the refused ones that named its numbers', async () => {
    const push = async (requestId: string, ticket: object) =>
      (await scene.pushTicket({ 'X-Request-Id': requestId }, ticket)).body as unknown as { disposalTicketId: string };
    const { disposalTicketId: id } = await push('created', { inboundFlow: flow('IN-H', 1) });
    await push('refused', { inboundFlow: flow('IN-H', 2), materials: [{ ...material, id: randomUUID() }] });
    await push('updated', { inboundFlow: flow('IN-H', 3), materials: [{ ...material, quantity: 2 }] });
    await push('stale', { inboundFlow: flow('IN-H', 2), materials: [{ ...material, quantity: 3 }] });
    await push('unchanged', { inboundFlow: flow('IN-H', 3), materials: [{ ...material, quantity: 2 }] });
    await push('another ticket', { inboundFlow: flow('IN-OTHER', 1) });
    const { keyPrefix, apiKeyId } = await newestExchange(scene.service, { requestId: 'created' });
    const history = await historyOf(scene.service, `/tickets/${id}`);
    const pushed = { event: 'push', status: 200, keyPrefix, apiKeyId };
    expect(history).toMatchObject([
      { ...pushed, requestId: 'created', result: 'created', revision: 1, changes: [] },
      { event: 'refused', status: 422, keyPrefix, apiKeyId, requestId: 'refused', result: '422 materialExists' },
      { ...pushed, requestId: 'updated', result: 'updated', revision: 2, changes: ['inboundFlow', 'materials'] },
      { ...pushed, requestId: 'stale', result: 'stale', revision: 3, changes: [] },
      { ...pushed, requestId: 'unchanged', result: 'unchanged' },
    ]);
    expect(history.map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^Created with .+; inbound flow IN-H$/),
      'Refused (422 materialExists): material Debris is unknown',
      'Weight corrected from 1 to 2 t',
      'Older than what is stored: nothing changed',
      'Same as what is stored: nothing changed',
    ]);
    expect(history[1]?.text).toMatch(/Nothing was stored\. The response says: .*material/);
    for (const { exchangeId, requestId = '' } of history) {
      expect(exchangeId).toBe((await newestExchange(scene.service, { requestId })).id);
    }
    const page = await scene.service.admin<List<HistoryEntry>>('GET', `/tickets/${id}/history?page=2&pageSize=2`);
    expect(page.body.data.map(({ requestId }) => requestId)).toEqual(['updated', 'refused']);
    expect(page.body.pagination).toMatchObject({ totalItems: 5, totalPages: 3 });
  });

  test('compares each push with what was in force, on every page of the history and of the revisions', async () => {
    const push = async (ticket: object) =>
      (await scene.pushTicket({}, ticket)).body as unknown as { disposalTicketId: string };
    const quantity = (amount: number) => ({ materials: [{ ...material, quantity: amount }] });
    const [late, early] = [flow('IN-F', 5), flow('IN-F', 1)];
    await push({ inboundFlow: late, ...quantity(14.9) });
    await push({ inboundFlow: early, ...quantity(99) });
    await push({ inboundFlow: early, outboundFlow: flow('OUT-F', 2), ...quantity(98) });
    const { disposalTicketId: id } = await push({
      inboundFlow: flow('IN-G', 6),
      outboundFlow: flow('OUT-F', 2),
      ...quantity(12.48),
    });
    const sentences = [
      'Created with 14.9 t of Debris; inbound flow IN-F',
      'Older than what is stored: nothing changed',
      'Older than what is stored, contents unchanged; only outbound flow OUT-F added',
      'Weight corrected from 14.9 to 12.48 t, inbound flow renumbered from IN-F to IN-G',
    ];
    const changes = [[], [], ['outboundFlow'], ['inboundFlow', 'materials']];
    for (const [i, sentence] of sentences.entries()) {
      const page = `page=${sentences.length - i}&pageSize=1`;
      const { body } = await scene.service.admin<List<HistoryEntry>>('GET', `/tickets/${id}/history?${page}`);
      expect(body.data).toMatchObject([{ sentence, changes: changes[i] }]);
      const revision = `/tickets/${id}/revisions?page=${i + 1}&pageSize=1`;
      const { body: one } = await scene.service.admin<List<object>>('GET', revision);
      expect(one.data).toMatchObject([{ revision: i + 1, changes: changes[i] }]);
    }
  });

  test('has the refused pushes of its numbers, also of an earlier one, and none of another site', async () => {
    const push = async (ticket: object) => scene.pushTicket({}, ticket);
    const { body } = await push({ inboundFlow: flow('IN-R', 1), outboundFlow: flow('OUT-R', 1) });
    const { disposalTicketId: id } = body as unknown as { disposalTicketId: string };
    await push({ inboundFlow: flow('IN-R', 2), siteId: randomUUID() });
    await push({ outboundFlow: flow('OUT-R', 2), materials: [{ ...material, quantity: 'many' }] });
    await push({ inboundFlow: flow('IN-S', 3), outboundFlow: flow('OUT-R', 3) });
    await push({ inboundFlow: flow('IN-R', 4), materials: [{ ...material, name: 'Gold', id: randomUUID() }] });
    await push({ inboundFlow: flow('IN-ELSEWHERE', 4), materials: [{ ...material, id: randomUUID() }] });
    const story = (await historyOf(scene.service, `/tickets/${id}`)).map(({ event, sentence }) => [event, sentence]);
    expect(story).toEqual([
      ['push', expect.stringMatching(/^Created with .+; inbound flow IN-R and outbound flow OUT-R$/)],
      ['refused', expect.stringMatching(/^Refused \(422 siteExists.*\): site \S+ is unknown/)],
      ['refused', expect.stringMatching(/^Refused \(400 .+\): materials\[0\]\.quantity must be/)],
      ['push', 'Inbound flow renumbered from IN-R to IN-S'],
      ['refused', 'Refused (422 materialExists): material Gold is unknown'],
    ]);
  });

  test('shows the stored pushes after their exchanges were dropped', async () => {
    const { body } = await scene.pushTicket({}, { inboundFlow: flow('IN-OLD', 1) });
    const { disposalTicketId: id } = body as unknown as { disposalTicketId: string };
    await scene.service.app.get(ExchangeLog).flush();
    await scene.service.dataSource.query('DELETE FROM exchanges');
    expect(await historyOf(scene.service, `/tickets/${id}`)).toMatchObject([{ event: 'push', result: 'created' }]);
  });

  test('of an account shows its creation, repeats and the calls that wanted its name', async () => {
    const create = (name: string, key: string) => scene.createAccount(name, { 'Idempotency-Key': key });
    const { body } = await create('Prairie', 'h1');
    const { accountId } = body as unknown as { accountId: string };
    await create('Prairie', 'h1');
    await create('PRAIRIE ', 'h2');
    const path = `/accounts/${accountId}`;
    expect(await historyOf(scene.service, path)).toMatchObject([
      { event: 'push', status: 200, result: 'created' },
      { event: 'push', status: 200, result: 'replayed' },
      { event: 'refused', status: 409, result: '409 NAME_TAKEN' },
    ]);
    await scene.service.dataSource.query('DELETE FROM exchanges');
    expect(await historyOf(scene.service, path)).toMatchObject([{ event: 'state', text: 'The account was created.' }]);
  });
});

describe('of a synchronisation run', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  beforeEach(() => scene.renew());
  afterAll(() => scene.stop());

  test('shows its calls, its result and the decision of an admin', async () => {
    const site = (n: number) => ({ id: randomUUID(), name: `Site ${n}`, updatedAt: '2026-11-20T14:00:00Z' });
    const sites = Array.from({ length: 20 }, (_, n) => site(n));
    await scene.sync({ sites, kiosks: [], materials: [] });
    const { id, status } = await scene.sync({ sites: sites.slice(0, 5), kiosks: [], materials: [] });
    expect(status).toBe('held');
    await scene.service.admin('POST', `/sync-runs/${id}/reject`, { note: 'Export was cut' });
    const history = await historyOf(scene.service, `/sync-runs/${id}`);
    expect(history.map(({ event }) => event)).toEqual(['state', 'call', 'state', 'decision']);
    const [, call, end, decision] = history;
    expect(call).toMatchObject({ status: 200, exchangeId: expect.any(String) });
    expect(call?.text).toContain('/scale-platform/v1/sites received 200');
    expect(end?.text).toMatch(
      /^The run ended as held\. Records: sites .*15 held.* Held: the removal of 15 of 20 sites/,
    );
    expect(decision?.text).toMatch(/rejected.*, by admin\. Note: Export was cut/);
  });

  test('shows each failed call', async () => {
    scene.partner.on(SITES_ROUTE, refuses(400, 'INVALID_PAYLOAD', 'no such hauler'));
    const run = await scene.ended(await scene.request());
    const history = await historyOf(scene.service, `/sync-runs/${run.id}`);
    expect(history.map(({ event, status }) => [event, status])).toEqual([
      ['state', undefined],
      ['call', 400],
      ['state', undefined],
    ]);
    expect(history[2]?.text).toContain('The run ended as failed.');
  });
});

describe('of a clip', () => {
  let app: TestApp;
  let partner: VisionPartner;
  beforeAll(async () => {
    app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
    partner = await startVisionPartner();
  });
  afterAll(async () => {
    await app.close();
    await partner.stop();
  });

  test('shows how it was submitted, the polls that changed something, download attempts and replaced links', async () => {
    partner.on(POST, refuses(503, 'INTERNAL_ERROR', 'busy'), accepts({ requestId: 'req-history' }));
    const request = { requestId: 'req-history', status: 'processing' };
    const nothing = lists('videos', () => [], { request });
    partner.on(VIDEOS, refuses(404, 'NOT_FOUND', 'no such request'), nothing);
    const { id: connectionId } = await connectVision(app, partner.url);
    const id = await orderVideo(app, connectionId);
    await eventually(async () => {
      await hurryVideo(app);
      expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(3);
    });
    const refusing = partner.link(sampleVideo(), (_, response) => void response.writeHead(403).end());
    const links = [refusing, partner.link(sampleVideo())];
    partner.on(VIDEOS, (response, asked) => {
      const downloadUrl = links.length > 1 ? links.shift() : links[0];
      const clip = element({ requestId: 'req-history', id: 'clip-1', downloadUrl });
      lists('videos', () => [clip], { request: { requestId: 'req-history', status: 'ready' } })(response, asked);
    });
    await requestBecomes(app, id, { status: 'stored' });
    const history = await historyOf(app, `/video-requests/${id}`);
    expect(history.map(({ event, status = 0, text }) => `${event} ${status} ${text}`)).toEqual([
      expect.stringMatching(/^state 0 The video was requested/),
      expect.stringMatching(/^submitted 503 The request was not accepted, and is sent again: .*busy/),
      expect.stringMatching(/^submitted 202 The state is processing/),
      expect.stringMatching(/^poll 404 Still processing: .*no such request/),
      expect.stringMatching(/^poll 200 The partner gives no reason any more/),
      expect.stringMatching(/^poll 200 The partner listed 1 new clip/),
      expect.stringMatching(/^poll 200 The state is ready/),
      expect.stringMatching(/^state 0 The state is downloading/),
      expect.stringMatching(/^download 403 A new link is needed\. .*403/),
      expect.stringMatching(/^state 0 The state is ready/),
      expect.stringMatching(/^link-replaced 200 The partner listed new link 1/),
      expect.stringMatching(/^state 0 The state is downloading/),
      expect.stringMatching(/^download 200 The file is stored, 50000 bytes/),
      expect.stringMatching(/^state 0 The state is stored/),
    ]);
    expect(JSON.stringify(history)).not.toContain('sig=secret');
    const failed = history[1]?.exchangeId ?? '';
    const { body } = await app.admin<{ references: object[] }>('GET', `/exchanges/${failed}`);
    expect(body.references).toContainEqual({ kind: 'videoRequestId', value: id });
    expect((await readRequest(app, id)).status).toBe('stored');
  });

  test('names its parts, and why a part failed', async () => {
    partner.on(POST, json({ success: true, requestId: 'r', status: 'failed', message: 'no camera' }));
    const { id: connectionId } = await connectVision(app, partner.url);
    const id = await orderVideo(app, connectionId, { endTime: '2026-01-31T10:00:00Z' });
    await requestBecomes(app, id, { status: 'failed' });
    const texts = (await historyOf(app, `/video-requests/${id}`)).map(({ text }) => text);
    for (const part of [1, 2]) {
      expect(texts).toContain(`Part ${part}: The state is failed. The partner refused the request: no camera`);
    }
  });
});

test('lists what happened at a whole second after the later entries of that second', () => {
  const entries = ['2026-11-25T00:00:01.004Z', '2026-11-25T00:00:01Z', '2026-11-25T00:00:00.9Z'].map((at) => ({
    at,
    event: 'state' as const,
    text: at,
  }));
  expect(historyPage('id', entries.toReversed(), {}).data).toEqual(entries);
});
