import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PartitionPlanner } from '../../../src/core/database/partition-planner.js';
import { PARTITIONED } from '../../../src/core/database/partitions.rules.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { partitionsOf } from '../../support/rows.js';

let app: TestApp;
beforeAll(async () => void (app = await startTestApp()));
afterAll(() => app.close());

const partitions = () => partitionsOf(app, 'recordings');

const INSERT = `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
    start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
  SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'continuous', 'p', 'c', 't', 'front', at, at + interval '1 minute', 60,
    'stored', now(), now(), now() FROM unnest($1::timestamptz[]) AS at`;

test('a recording of any time is stored, and few partitions are created for them', async () => {
  const before = (await partitions()).length;
  const years = Array.from({ length: 1_000 }, (_, i) => `${1970 + i}-06-01T00:00:00Z`);
  await app.dataSource.query(INSERT, [years]);
  await app.app.get(PartitionPlanner).ensure(
    PARTITIONED.recordings,
    years.map((year) => Date.parse(year)),
  );
  await app.app.get(PartitionPlanner).plan();
  expect(await app.dataSource.query('SELECT count(*)::int AS n FROM recordings')).toEqual([{ n: 1_000 }]);
  expect((await partitions()).length - before).toBeLessThanOrEqual(11);
});
