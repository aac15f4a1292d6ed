import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '../../src/database/migrate.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { shortOrLong, reportFigures } from '../support/faults.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/reference-vision.js';
import { type Pgbouncer, pgbouncerVersion, startPgbouncer } from './pgbouncer.js';
import { ScaleHouse } from '../support/scale-house.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const version = pgbouncerVersion();
const PUSHES = shortOrLong(300, 20_000);

/** Managed databases offer transaction mode. The tests are skipped where no pooler is installed. */
(version === undefined ? describe.skip : describe)(
  `behind a pooler in transaction mode (${version ?? 'skipped: pgbouncer is not installed'})`,
  () => {
    let database: TestDatabase;
    let pooler: Pgbouncer;
    const services: TestApp[] = [];
    beforeAll(async () => {
      database = await createTestDatabase({ migrated: false });
      pooler = await startPgbouncer(database.url);
      await Promise.all([migrate(pooler.url), migrate(pooler.url)]);
      const first = await startTestApp({ env: { DATABASE_URL: pooler.url } });
      services.push(first, await startTestApp({ on: first }));
    });
    afterAll(async () => {
      for (const service of services) await service.close();
      await pooler.stop();
      await database.drop();
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
        version: version ?? '',
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
      }, 10_000);
    });

    test('lists, health and metrics', async () => {
      for (const service of services) {
        for (const path of ['/tickets', '/accounts?search=n1', '/api-keys', '/haulers', '/recordings', '/sync-runs'])
          expect((await service.admin('GET', path)).status).toBe(200);
        expect((await service.call('GET', '/health/ready')).status).toBe(200);
      }
    });
  },
);
