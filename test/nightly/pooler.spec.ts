import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '../../src/database/migrate.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/reference-vision.js';
import { type Pgbouncer, startPgbouncer } from './pgbouncer.js';
import { requirePrograms } from '../support/programs.js';
import { siteData } from '../support/site-data.js';
import { ScaleHouse } from '../support/scale-house.js';
import { setDefaults, UNUSUAL_DEFAULTS } from './databases/database-defaults.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const PUSHES = 20_000;

/** Managed databases offer transaction mode. `integration/field/databases` has the same without a pooler, in short. */
describe('two instances behind a pooler in transaction mode, on a database with unusual defaults', () => {
  let database: TestDatabase;
  let pooler: Pgbouncer;
  const services: TestApp[] = [];
  beforeAll(async () => {
    requirePrograms('pgbouncer');
    database = await createTestDatabase({ migrated: false });
    await setDefaults(database, UNUSUAL_DEFAULTS);
    pooler = await startPgbouncer(database.url);
    const { url } = pooler;
    await Promise.all([migrate(url), migrate(url)]);
    const first = await startTestApp({ env: { DATABASE_URL: url, OUTBOUND_ALLOW_PRIVATE: true } });
    services.push(first, await startTestApp({ on: first }));
  });
  afterAll(async () => {
    for (const service of services) await service.close();
    await pooler?.stop();
    await database?.drop();
  });

  test('times are exact, also those that the database compares', async () => {
    const [service] = services as [TestApp];
    const { id: haulerId } = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Times' })).body;
    const expiresAt = new Date(Date.now() + 400 * 86_400_000).toISOString();
    const issued = await service.admin<{ key: string; createdAt: string }>('POST', '/api-keys', {
      haulerId,
      interfaces: ['account'],
      expiresAt,
    });
    expect(issued.body).toMatchObject({ expiresAt });
    expect(Math.abs(Date.parse(issued.body.createdAt) - Date.now())).toBeLessThan(60_000);
    const created = await service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': issued.body.key },
      body: { accountName: "back\\slash and 'quote'" },
    });
    expect(created.status).toBe(200);
    const { data } = (await service.admin<{ data: Record<string, unknown>[] }>('GET', `/accounts?haulerId=${haulerId}`))
      .body;
    expect(data).toMatchObject([{ accountName: "back\\slash and 'quote'" }]);
    const house = await ScaleHouse.open(service);
    const updatedAt = '2026-01-31T08:30:00.123456Z';
    const body = house.ticket({
      materials: [house.material({ quantity: 0.30000000000000004 })],
      inboundFlow: { ticketNumber: 'exact', updatedAt },
    });
    const { disposalTicketId } = (await house.push(body)).body;
    const stored = (await service.admin<Record<string, unknown>>('GET', `/tickets/${disposalTicketId}`)).body;
    expect(stored).toMatchObject({
      materials: [{ quantity: 0.30000000000000004 }],
      inboundFlow: { ticketNumber: 'exact' },
    });
    expect(Date.parse((stored['inboundFlow'] as { updatedAt: string }).updatedAt)).toBe(Date.parse(updatedAt));
  });

  test('synchronisations, after the same sessions have staged the partner data in temporary tables', async () => {
    const [service, other] = services as [TestApp, TestApp];
    const { haulerId, key } = await issueKey(service, ['site']);
    const replace = (count: number) =>
      other.admin('PUT', `/hosted/haulers/${haulerId}/site-data`, siteData(count, 2, 20));
    const { id } = (
      await service.admin<{ id: string }>('POST', '/connections', {
        haulerId,
        interface: 'site',
        baseUrl: service.url,
        apiKey: key,
        enabled: false,
      })
    ).body;
    for (let run = 1; run <= 8; run++) {
      await Promise.all([replace(run), replace(run), replace(run)]);
      const { runId } = (await service.admin<{ runId: string }>('POST', `/connections/${id}/sync`)).body;
      await eventually(async () => {
        const { body } = await service.admin('GET', `/sync-runs/${runId}`);
        expect(body).toMatchObject({ status: 'succeeded', counts: { sites: { received: run } } });
      });
    }
  });

  test('tickets on two instances, with and without keys: each stored once', async () => {
    const [service, other] = services as [TestApp, TestApp];
    const house = await ScaleHouse.open(service);
    let next = 0;
    const answers: number[] = [];
    const push = async () => {
      while (next < PUSHES) {
        const n = next++;
        const inboundFlow = { ticketNumber: `P${n}`, updatedAt: '2026-01-31T08:30:00Z' };
        const headers: Record<string, string> = n % 2 === 0 ? { 'Idempotency-Key': `P${n}` } : {};
        const body = house.ticket({ inboundFlow });
        const replies = await Promise.all([house.push(body, headers, service), house.push(body, headers, other)]);
        expect(replies[0].body.disposalTicketId).toBe(replies[1].body.disposalTicketId);
        answers.push(...replies.map(({ status }) => status));
      }
    };
    await Promise.all(Array.from({ length: 16 }, push));
    expect(new Set(answers)).toEqual(new Set([200]));
    expect(await house.count()).toBe(PUSHES);
    reportFigures('behind pgbouncer', {
      pushes: answers.length,
      tickets: PUSHES,
      lost: 0,
      double: 0,
    });
  }, 120_000);

  test('accounts, also two with one name at the same time', async () => {
    const [service, other] = services as [TestApp, TestApp];
    const { key } = await issueKey(service, ['account']);
    const create = (instance: TestApp, accountName: string) =>
      instance.call('POST', '/platform-api/v1/accounts', {
        headers: { 'PLATFORM-API-KEY': key },
        body: { accountName },
      });
    for (let i = 0; i < 20; i++) {
      const replies = await Promise.all([create(service, `N${i}`), create(other, `n${i}`)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  test('due rows: a clip is claimed, leased and prepared', async () => {
    const [service] = services as [TestApp];
    expect((await upload(service, 0)).status).toBe(201);
    const { key } = await issueKey(service, ['vision']);
    const headers = { 'API-KEY': key };
    const asked = await service.call<{ requestId: string }>('POST', '/video-platform/v1/videos/requests', {
      headers,
      body: { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) },
    });
    expect(asked.status).toBe(202);
    await eventually(async () => {
      const path = `/video-platform/v1/videos?customerId=${CUSTOMER}&requestId=${asked.body.requestId}`;
      const { body } = await service.call<{ data: { videos: unknown[] } }>('GET', path, { headers });
      expect(body.data.videos).toHaveLength(1);
    });
  });

  test('exchanges are stored', async () => {
    const [service] = services as [TestApp];
    const house = await ScaleHouse.open(service);
    await house.expectAccepted({});
    await eventually(async () => {
      const path = `/exchanges?haulerId=${house.haulerId}&direction=inbound`;
      const { body } = await service.admin<{ data: { status: number }[] }>('GET', path);
      expect(body.data).toMatchObject([{ status: 200 }]);
    });
  });

  test('lists, health and metrics', async () => {
    for (const service of services) {
      for (const path of ['/tickets', '/accounts?search=n1', '/api-keys', '/haulers', '/recordings', '/sync-runs'])
        expect((await service.admin('GET', path)).status).toBe(200);
      expect((await service.call('GET', '/health/ready')).status).toBe(200);
    }
  });
});
