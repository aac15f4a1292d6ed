import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';

let app: TestApp;
const CONNECTIONS = ['0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a10', '0197a1c4-7c1e-7b3a-9f7e-2c5d8e4f6a11'];
beforeAll(async () => {
  app = await startTestApp();
  await app.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
     SELECT gen_random_uuid(), gen_random_uuid(), ($1::uuid[])[1 + n % 2], 'continuous', 'p' || n, 'c', 'T' || n % 3,
       (ARRAY['front', 'rear'])[1 + (n / 3) % 2], begins, begins + interval '5 minutes', 300,
       (ARRAY['stored', 'stored', 'stored', 'failed', 'expired'])[1 + n % 5], now(), now(), now()
     FROM (SELECT n, timestamptz '2026-01-01T00:00:00Z' + n * interval '7 minutes' AS begins
           FROM generate_series(1, 3000) AS n) AS series`,
    [CONNECTIONS],
  );
  // Between two milliseconds.
  await app.dataSource.query(
    "UPDATE recordings SET start_time = start_time + interval '500 microseconds' WHERE partner_recording_id IN ('p40', 'p41')",
  );
  // Moves are counted as well.
  await app.dataSource.query(
    "UPDATE recordings SET status = 'available' WHERE partner_recording_id LIKE 'p1%' AND status = 'failed'",
  );
  await app.dataSource.query("DELETE FROM recordings WHERE partner_recording_id LIKE 'p2_'");
});
afterAll(() => app.close());

interface Page {
  readonly data: { readonly id: string }[];
  readonly pagination: { readonly totalItems: number };
}

describe('the list of recordings', () => {
  test.each<[string, string]>([
    ['', 'true'],
    [`connectionId=${CONNECTIONS[0]}`, `connection_id = '${CONNECTIONS[0]}'`],
    ['truckId=T1&cameraId=rear', "truck_id = 'T1' AND camera_id = 'rear'"],
    ['status=available&source=continuous', "status = 'available'"],
    ['source=on-demand', 'false'],
    ['from=2026-01-03T10:11:12Z', "start_time >= '2026-01-03T10:11:12Z'"],
    ['to=2026-01-03T10:11:12Z', "start_time < '2026-01-03T10:11:12Z'"],
    ['to=2026-01-01T04:40:00.000900Z', "start_time < '2026-01-01T04:40:00.000900Z'"],
    ['from=2026-01-01T04:40:00.000100Z&to=2026-01-01T04:40:00.000900Z', "start_time = '2026-01-01T04:40:00.000500Z'"],
    ['from=2026-01-01T04:40:00.000501Z', "start_time > '2026-01-01T04:40:00.000500Z'"],
    [
      'from=2026-01-03T01:00:00Z&to=2026-01-03T02:00:00Z&status=stored',
      "start_time >= '2026-01-03T01:00:00Z' AND start_time < '2026-01-03T02:00:00Z' AND status = 'stored'",
    ],
    [
      'from=2026-01-02T01:00:00Z&to=2026-01-09T02:00:00Z&truckId=T2',
      "start_time >= '2026-01-02T01:00:00Z' AND start_time < '2026-01-09T02:00:00Z' AND truck_id = 'T2'",
    ],
  ])('filtered by "%s" is each page of what a plain query finds', async (query, condition) => {
    const rows = await app.dataSource.query<{ id: string }[]>(
      `SELECT id FROM recordings WHERE ${condition} ORDER BY start_time DESC, id DESC`,
    );
    const last = Math.max(1, Math.ceil(rows.length / 7));
    for (const page of new Set([1, 2, Math.ceil(last / 2), last, last + 1])) {
      const { body } = await app.admin<Page>('GET', `/recordings?${query}&page=${page}&pageSize=7`);
      const expected = rows.slice((page - 1) * 7, page * 7).map(({ id }) => id);
      expect(body.data.map(({ id }) => id)).toEqual(expected);
      expect(body.pagination).toMatchObject({ page, totalItems: rows.length, totalPages: Math.ceil(rows.length / 7) });
    }
  });

  test.each(['pageSize=101', 'page=0', 'status=gone', 'from=yesterday'])('%s: 400', async (query) => {
    expect((await app.admin('GET', `/recordings?${query}`)).status).toBe(400);
  });

  test('no recording of that id: 404', async () => {
    expect((await app.admin('GET', `/recordings/${CONNECTIONS[0]}`)).status).toBe(404);
    expect((await app.admin('GET', `/recordings/${CONNECTIONS[0]}/content`)).status).toBe(404);
  });
});
