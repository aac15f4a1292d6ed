import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Database } from '../../../src/core/database/database.js';
import { DatabaseConnectionError } from '../../../src/core/database/postgres-errors.js';
import { outageOf } from '../../../src/core/database/reason.js';
import { ReadinessService } from '../../../src/admin/health/readiness.service.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { testEnv } from '../../support/env.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { createTestDatabase } from '../../support/test-database.js';

interface Failed {
  readonly error: { readonly message: string };
}

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

const ready = () => service.call<Failed>('GET', '/health/ready');
const push = (ticketNumber: string) =>
  house.push(house.ticket({ inboundFlow: { ticketNumber, updatedAt: '2026-01-31T08:30:00Z' } }));

/** What a full disk answers to the first row that needs a new page. */
const FILL = `
  CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'could not extend file "base/5/16384": No space left on device' USING ERRCODE = 'disk_full'; END $$;
  CREATE TRIGGER no_space BEFORE INSERT ON write_probes FOR EACH ROW EXECUTE FUNCTION no_space();
  CREATE TRIGGER no_space BEFORE INSERT ON tickets FOR EACH ROW EXECUTE FUNCTION no_space()`;

test('a full database is not ready, and every 503 names the cause', async () => {
  await service.dataSource.query(FILL);
  const refused = await push('IN-1');
  expect([refused.status, refused.body.error?.message]).toEqual([
    503,
    'the database has no space left; try again shortly',
  ]);
  await eventually(async () => {
    const { status, body } = await ready();
    expect([status, body.error?.message]).toEqual([503, 'the database has no space left']);
  });
  const { text } = await service.call('GET', '/metrics', {
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` },
  });
  expect(text).toMatch(/^unavailable_answers_total\{cause="full"\} [1-9]/m);
  await service.dataSource.query('DROP FUNCTION no_space CASCADE');
  await eventually(async () => expect((await ready()).status).toBe(200));
  expect((await push('IN-1')).status).toBe(200);
});

test('a check leaves no row behind', async () => {
  await eventually(async () => expect((await ready()).status).toBe(200));
  expect(await service.dataSource.query('SELECT count(*)::int AS rows FROM write_probes')).toEqual([{ rows: 0 }]);
});

test('a database of a version that this one cannot follow is not ready', async () => {
  const database = await createTestDatabase();
  const dataSource = await database.connect();
  await dataSource.query("INSERT INTO migrations (timestamp, name) VALUES (1900000000000, 'Newer1900000000000')");
  await dataSource.query("UPDATE schema_version SET version = '9.1.0', oldest_compatible_version = '9.0.0'");
  const connections = new Database(testEnv({ DATABASE_URL: database.url }));
  await expect(new ReadinessService(connections).assertReady()).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('version 9.1.0 has migrated it, and only versions from 9.0.0 on can use it'),
  });
  await connections.onApplicationShutdown();
  await database.drop();
});

describe('the cause of a database error', () => {
  const withState = (code: string) => Object.assign(new Error('of the server'), { code });

  test.each([
    [withState('25006'), 'read-only'],
    [withState('53100'), 'full'],
    [withState('53200'), 'memory'],
    [withState('53300'), 'too-many-connections'],
    [withState('57P01'), 'restarting'],
    [withState('57P03'), 'restarting'],
    [withState('57014'), 'slow'],
    [withState('55P03'), 'slow'],
    [withState('40P01'), 'slow'],
    [new DatabaseConnectionError(withState('53300')), 'too-many-connections'],
    [new DatabaseConnectionError(withState('57P03')), 'restarting'],
    [new DatabaseConnectionError(new Error('ECONNREFUSED')), 'unreachable'],
    [withState('23505'), undefined],
    [new Error('a mistake of ours'), undefined],
  ])('%o: %s', (error, outage) => expect(outageOf(error)).toBe(outage));
});
