import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ExchangeDetail, ReplayedExchange } from '../../../src/contracts/admin/exchanges.routes.js';
import type { HistoryEntry } from '../../../src/contracts/admin/history.dto.js';
import type { List } from '../../../src/contracts/admin/list.dto.js';
import type { Overview, OverviewHour } from '../../../src/contracts/admin/overview.dto.js';
import type { Reference } from '../../../src/contracts/common/references.js';
import { PartitionPlanner } from '../../../src/core/database/partition-planner.js';
import { minUuidv7Of } from '../../../src/core/database/uuid.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { ExchangeHours } from '../../../src/exchanges/exchange-hours.repository.js';
import type { ExchangeFilter } from '../../../src/exchanges/exchange-list.sql.js';
import { storedReferences } from '../../../src/exchanges/references.rules.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { ExchangeRetention } from '../../../src/exchanges/exchange-retention.job.js';
import { ExchangesRepository } from '../../../src/exchanges/exchanges.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { createExchangeDays, daysAgo } from '../../support/exchange-days.js';
import { exchangeInFull, listExchanges, newestExchange } from '../../support/exchange-scene.js';
import { addExchange, addExchanges, deleteExchanges, partitionsOf } from '../../support/rows.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';

/** What rows that time has moved, a closed connection and another EXCHANGE_LOG change; the rest is in `acceptance/admin/exchanges.spec.ts`. */
let scene: SandboxScene;
beforeAll(async () => void (scene = await startSandboxScene()));
afterAll(() => scene.service.close());

const HOUR_MS = 3_600_000;
const replayOn = (service: TestApp, id: string, body: object = {}) =>
  service.admin<ReplayedExchange>('POST', `/exchanges/${id}/replay`, body);
const read = async (service: TestApp, id: string) => {
  await service.app.get(ExchangeLog).flush();
  return (await service.admin<ExchangeDetail>('GET', `/exchanges/${id}`)).body;
};

const pushOf = (ticketNumber: string, minute: number, quantity: unknown, key = scene.platformKey) =>
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
    await pushOf('IN-1', 1, 1);
    await pushOf('IN-1', 2, 2);
    await pushOf('IN-1', 2, 2);
    await pushOf('IN-1', 0, 3);
    for (let i = 0; i < 3; i++) await pushOf('IN-2', 1, 'many');
    const refused = await pushOf('IN-2', 1, 1, 'hb_not-a-key');
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
    await pushOf('IN-1', 2, 2);
    expect(sum((await overview()).hours, ({ tickets }) => tickets.unchanged)).toBe(before + 1);
    const hours = scene.service.app.get(ExchangeHours);
    await hours.deleteOld(1);
    expect((await hours.counts(new Date(0))).size).toBeGreaterThan(0);
    await hours.deleteOld(-1);
    expect((await hours.counts(new Date(0))).size).toBe(0);
  });
});

test('days before the retention are dropped, and the next days exist', async () => {
  const { service } = scene;
  const names = () => partitionsOf(service, 'exchanges');
  await createExchangeDays(service.database, new Date('2020-01-01'), new Date('2020-01-02'));
  expect(await names()).toContain('exchanges_20200101');
  await service.app.get(ExchangeRetention).maintain();
  await service.app.get(PartitionPlanner).plan();
  const kept = await names();
  expect(kept).not.toContain('exchanges_20200101');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  expect(kept).toContain(`exchanges_${tomorrow}`);
});

test('a shared value is found behind many newer exchanges, in each hour and day, alone and with a hauler', async () => {
  const { database } = scene.service;
  const own = randomUUID();
  const reference: Reference = { kind: 'truckId', value: '42' };
  const store = async (hoursAgo: number, haulerId: string, stored: Reference = reference) => {
    const id = minUuidv7Of(Date.now() - hoursAgo * HOUR_MS);
    await addExchange(scene.service, { id, haulerId, refs: storedReferences(haulerId, [stored]) });
    return id;
  };
  await createExchangeDays(database, daysAgo(3), daysAgo(0));
  const other = randomUUID();
  const [first, second, third] = [await store(1, own), await store(26, other), await store(50, own)];
  await store(2, own, { kind: 'truckId', value: '421' });
  const exchanges = new ExchangesRepository(database);
  const found = async (filter: ExchangeFilter, limit = 10) =>
    (await exchanges.find({ reference, ...filter }, limit)).map(({ id }) => id);
  expect(await found({})).toEqual([first, second, third]);
  expect(await found({}, 2)).toEqual([first, second]);
  expect(await found({ before: second })).toEqual([third]);
  expect(await found({ haulerId: own })).toEqual([first, third]);
  expect(await found({ haulerId: other })).toEqual([second]);
  expect(await found({ haulerId: other, direction: 'inbound' })).toEqual([]);
  expect(await found({ from: Date.now() - 30 * HOUR_MS, to: Date.now() - 20 * HOUR_MS })).toEqual([second]);
  await exchanges.indexReferences();
  expect(await found({})).toEqual([first, second, third]);
  const named = await exchanges.naming(own, [{ kind: 'ticketId', value: '1' }, reference], 10);
  expect(named.map(({ id }) => id)).toEqual([first, third]);
});

async function historyOf(service: TestApp, path: string): Promise<HistoryEntry[]> {
  await service.app.get(ExchangeLog).flush();
  const { status, body } = await service.admin<List<HistoryEntry>>('GET', `${path}/history?pageSize=100`);
  expect(status).toBe(200);
  const times = body.data.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  return body.data.reverse();
}

test('the history of a ticket shows the stored pushes after their exchanges were dropped', async () => {
  const { body } = await scene.pushTicket({}, { inboundFlow: flow('IN-OLD') });
  const { disposalTicketId: id } = body as unknown as { disposalTicketId: string };
  await scene.service.app.get(ExchangeLog).flush();
  await deleteExchanges(scene.service);
  expect(await historyOf(scene.service, `/tickets/${id}`)).toMatchObject([{ event: 'push', result: 'created' }]);
});

test('a push that is not text is sent again with the same bytes', async () => {
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
  const headers = { 'PLATFORM-API-KEY': scene.platformKey, 'X-Request-Id': 'not-text' };
  await scene.service.call('POST', '/platform-api/v1/tickets', { headers, body: bytes });
  const first = await newestExchange(scene.service, { requestId: 'not-text' });
  const { body } = await replayOn(scene.service, first.id);
  expect((await read(scene.service, body.exchangeId ?? '')).request.body?.base64).toBe(bytes.toString('base64'));
});

test('a replay refuses a filter that matches more than 1,000 exchanges', async () => {
  const haulerId = randomUUID();
  await addExchanges(scene.service, haulerId, 1_001);
  expect((await scene.service.admin('POST', '/exchanges/replay', { haulerId, dryRun: true })).status).toBe(400);
});

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const flow = (ticketNumber: string) => ({ ticketNumber, updatedAt: '2026-11-20T14:00:00Z' });
const pushRaw = (body: string | Buffer, headers: Record<string, string> = {}) =>
  scene.service.call('POST', '/platform-api/v1/tickets', {
    headers: { 'PLATFORM-API-KEY': scene.platformKey, ...headers },
    body,
  });
const requestIdOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id') ?? '';

describe('a refused push', () => {
  test('with a compressed body has the size and the hash of what was sent', async () => {
    const wire = gzipSync(JSON.stringify({ siteId: 1, filler: 'x'.repeat(5_000) }));
    const reply = await pushRaw(wire, { 'Content-Encoding': 'gzip' });
    expect(reply.status).toBe(400);
    const { request } = await exchangeInFull(scene.service, { requestId: requestIdOf(reply) });
    expect(request.body).toMatchObject({ sizeBytes: wire.length, sha256: sha256(wire) });
    expect(request.body?.text).toContain('"siteId":1');
  });

  test('whose caller disconnects has no status and a failure', async () => {
    const { port } = new URL(scene.service.url);
    const socket = connect(Number(port), '127.0.0.1');
    const requestId = randomUUID();
    const head = ['POST /platform-api/v1/tickets HTTP/1.1', 'Host: x', `PLATFORM-API-KEY: ${scene.platformKey}`];
    const rest = [`X-Request-Id: ${requestId}`, 'Content-Type: application/json', 'Content-Length: 100', '', '{"a'];
    socket.write([...head, ...rest].join('\r\n'), () => setTimeout(() => socket.resetAndDestroy(), 50));
    await eventually(async () => {
      const { body } = await listExchanges(scene.service, { requestId, status: 'none' });
      expect(body.data).toMatchObject([{ status: null, failure: 'cut-off' }]);
    });
  });
});

describe('other calls', () => {
  test('a list shows links without their signature, and a download has no bytes', async () => {
    const { body } = await scene.listContinuous();
    const [first] = body.data.recordings;
    await fetch(first?.downloadUrl ?? '').then((response) => response.arrayBuffer());
    const list = await exchangeInFull(scene.service, {
      interface: 'vision',
      reference: `partnerRecordingId:${first?.id}`,
    });
    expect(list.response?.body?.text).toContain('signature=[redacted]');
    expect(list.response?.body?.redacted).toBe(true);
    const [download] = (await listExchanges(scene.service, { interface: 'vision' })).body.data;
    expect(download).toMatchObject({ route: 'download', status: 200 });
    expect(download?.path).toMatch(/signature=\[redacted\]$/);
    expect(download?.responseBytes).toBeGreaterThan(1_000);
  });
});

describe('EXCHANGE_LOG', () => {
  test('failures keeps what failed, and off keeps nothing', async () => {
    const headers = { 'PLATFORM-API-KEY': scene.platformKey };
    const logged = async (mode: 'failures' | 'off') => {
      const service = await startTestApp({ on: scene.service, env: { EXCHANGE_LOG: mode } });
      try {
        const requestId = randomUUID();
        const all = { ...headers, 'X-Request-Id': requestId };
        const accountName = randomUUID();
        for (let i = 0; i < 2; i++) {
          await service.call('POST', '/platform-api/v1/accounts', { headers: all, body: { accountName } });
        }
        return (await listExchanges(service, { requestId })).body.data.length;
      } finally {
        await service.close();
      }
    };
    expect(await Promise.all([logged('failures'), logged('off')])).toEqual([1, 0]);
  });
});
