import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PartitionPlanner } from '../../../src/database/partition-planner.js';
import { createPartition } from '../../../src/database/partitions.repository.js';
import { PARTITIONED, partitionOf } from '../../../src/database/partitions.rules.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { useVision } from '../../support/vision-scene.js';
import { Subscriptions } from '../../integration/vision/subscriptions.js';

let app: TestApp;
beforeAll(async () => void (app = await startTestApp()));
afterAll(() => app.close());

/** The SQL here is about partitions: which there are, and in which of them a row is. */
const partitions = async (table: string) =>
  (
    await app.dataSource.query<{ name: string }[]>(
      'SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::text::regclass ORDER BY 1',
      [table],
    )
  ).map(({ name }) => name);

const month = (at: Date) => at.toISOString().slice(0, 7).replace('-', '');

const metric = async (name: string, table: string) => {
  const { text } = await app.call('GET', '/metrics', { headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` } });
  const [, value] = new RegExp(`^${name}\\{table="${table}"\\} (\\d+)$`, 'm').exec(text) ?? [];
  return Number(value);
};

test('each table has its partitions ahead, and a lost one is created again', async () => {
  const planner = app.app.get(PartitionPlanner);
  // The plan of the start may not have ended.
  await planner.plan();
  const now = new Date();
  const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  for (const table of ['recordings', 'ticket_revisions']) {
    await app.dataSource.query(`DROP TABLE ${table}_${month(next)}`);
    expect(await metric('partitions_ahead', table)).toBe(1);
    await planner.plan();
    expect(await metric('partitions_ahead', table)).toBe(2);
    expect(await partitions(table)).toEqual(
      expect.arrayContaining([`${table}_${month(now)}`, `${table}_${month(next)}`]),
    );
  }
});

const INSERT = `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
    start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
  SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'continuous', 'p', 'c', 't', 'front', at, at + interval '1 minute', 60,
    'stored', now(), now(), now() FROM unnest($1::timestamptz[]) AS at`;

test('a recording of any time is stored, and few partitions are created for them', async () => {
  const before = (await partitions('recordings')).length;
  const years = Array.from({ length: 1_000 }, (_, i) => `${1970 + i}-06-01T00:00:00Z`);
  await app.dataSource.query(INSERT, [years]);
  await app.app.get(PartitionPlanner).ensure(
    PARTITIONED.recordings,
    years.map((year) => Date.parse(year)),
  );
  await app.app.get(PartitionPlanner).plan();
  expect(await app.dataSource.query('SELECT count(*)::int AS n FROM recordings')).toEqual([{ n: 1_000 }]);
  expect((await partitions('recordings')).length - before).toBeLessThanOrEqual(11);
});

test('rows of a month that gets its partition later move into it', async () => {
  const at = new Date(Date.UTC(new Date().getUTCFullYear() - 2, 2, 15));
  const before = await metric('partition_rest_rows', 'recordings');
  await app.dataSource.query(INSERT, [[at.toISOString()]]);
  expect(await metric('partition_rest_rows', 'recordings')).toBe(before + 1);
  const where = () =>
    app.dataSource.query('SELECT tableoid::regclass::text AS place FROM recordings WHERE start_time = $1', [at]);
  expect(await where()).toEqual([{ place: 'recordings_rest' }]);
  await app.app.get(PartitionPlanner).plan();
  expect(await where()).toEqual([{ place: partitionOf(PARTITIONED.recordings, at.getTime(), Date.now())?.name }]);
  expect(await metric('partition_rest_rows', 'recordings')).toBe(before);
});

test('a reader that waits for rows to move finds them', async () => {
  const at = new Date(Date.UTC(new Date().getUTCFullYear() - 3, 1, 5));
  const partition = partitionOf(PARTITIONED.recordings, at.getTime(), Date.now());
  if (partition === undefined) throw new Error('there is no partition of this time');
  await app.dataSource.query(INSERT, [[at.toISOString()]]);
  const count = () =>
    app.dataSource.query<{ n: number }[]>('SELECT count(*)::int AS n FROM recordings WHERE start_time = $1', [at]);
  let reading: ReturnType<typeof count> | undefined;
  await app.dataSource.transaction(async (manager) => {
    await createPartition(manager, PARTITIONED.recordings, partition);
    reading = count();
    // Asked outside: within a transaction the sessions stand as they were at the first look.
    await eventually(async () =>
      expect(
        await app.dataSource.query(
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT count(*)::int AS n FROM recordings%'",
        ),
      ).toEqual([{ n: 1 }]),
    );
  });
  expect(await reading).toEqual([{ n: 1 }]);
});

test('while the default partition is locked, rows go on being written, and the partition is created later', async () => {
  const at = Date.UTC(new Date().getUTCFullYear() - 3, 2, 15);
  const planner = app.app.get(PartitionPlanner);
  const reader = app.dataSource.createQueryRunner();
  await reader.startTransaction();
  await reader.query('SELECT FROM recordings_rest LIMIT 1');
  await planner.ensure(PARTITIONED.recordings, [at]);
  await app.dataSource.query(INSERT, [[new Date(at).toISOString()]]);
  await reader.commitTransaction();
  await reader.release();
  await planner.plan();
  expect(await partitions('recordings')).toContain(`recordings_${month(new Date(at))}`);
});

test('the document names each index of recordings, of which there are five', async () => {
  const rows = await app.dataSource.query<{ name: string }[]>(
    "SELECT indexname AS name FROM pg_indexes WHERE tablename = 'recordings' ORDER BY 1",
  );
  const document = readFileSync('docs/engineering/recordings.md', 'utf8');
  const named = [...document.matchAll(/^\| `(recordings_\w+)` +\|/gm)].map(([, name]) => name);
  expect(rows.map(({ name }) => name)).toEqual(named.toSorted());
  expect(rows).toHaveLength(5);
});

const vision = useVision();
const subscriptions = new Subscriptions(vision);

describe('old footage that a partner lists', () => {
  test('has a partition of its month, without a wait for the plan', async () => {
    const startTime = new Date(Date.now() - 400 * 86_400_000);
    const endTime = new Date(startTime.getTime() + 60_000).toISOString();
    const chunk = subscriptions.chunk(2, { startTime: startTime.toISOString(), endTime });
    vision.listRecordings(() => [chunk]);
    await subscriptions.reachesNow(await subscriptions.follow(await vision.connect()));
    await eventually(async () => {
      const rows = await vision.query('SELECT tableoid::regclass::text AS place, status FROM recordings');
      expect(rows).toEqual([{ place: `recordings_${month(startTime)}`, status: 'stored' }]);
    });
  });
});
