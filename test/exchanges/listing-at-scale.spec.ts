import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type ExchangeFilter, listSql, PLANNER } from '../../src/exchanges/exchange-list.sql.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const COUNT = 20_000;
const HAULER = randomUUID();

let database: TestDatabase;
let db: DataSource;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await database.connect();
  await db.query(
    `INSERT INTO exchanges (id, hauler_id, request_bytes, response_bytes, duration_ms, status, request_form, response_form,
       in_revision, direction, interface, method, path, request_headers, error_code, request_id)
     SELECT (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid,
       CASE WHEN i % 10 = 0 THEN gen_random_uuid() ELSE $1::uuid END, 1, 1, 1, CASE WHEN i % 50 = 0 THEN 422 ELSE 200 END, 0, 0,
       true, 'inbound', 'scale', 'POST', '/', repeat('x', 400), CASE WHEN i % 50 = 0 THEN 'VALIDATION_ERROR' END, i::text
     FROM (SELECT i, lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - i % 1000), 12, '0') AS hex
             FROM generate_series(1, $2::int) AS i) AS t`,
    [HAULER, COUNT],
  );
  await db.query('ANALYZE exchanges');
}, 30_000);
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
  ['a request id', { requestId: '77' }],
])('a page of %s reads few blocks of a large table', async (_what, filter) => {
  const { sql, parameters } = listSql(filter, 21);
  type Plan = { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
  const rows = await db.transaction(async (manager) => {
    await manager.query(PLANNER);
    return manager.query<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
      parameters,
    );
  });
  const { Plan } = rows[0]['QUERY PLAN'][0];
  expect(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']).toBeLessThan(1_000);
});
