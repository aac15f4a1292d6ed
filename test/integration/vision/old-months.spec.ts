import { afterEach, describe, expect, test } from '@jest/globals';
import type { HoldDetails } from '../../../src/contracts/admin/hold.dto.js';
import { PartitionPlanner } from '../../../src/database/partition-planner.js';
import { PARTITIONED } from '../../../src/database/partitions.rules.js';
import { uuidv7 } from '../../../src/database/uuid.js';
import { correctDay } from '../../../src/vision/recordings/coverage-days-check.repository.js';
import { Retention } from '../../../src/vision/recordings/retention.job.js';
import { startTestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { readBundle } from '../../support/bundle.js';
import { type Footage, insertFootage } from '../../support/held-footage.js';
import { sampleVideo } from '../../support/sample-video.js';
import { accepts, element, POST } from '../../support/scripted-vision.js';
import { useVision } from '../../support/vision-scene.js';
import { Subscriptions } from './subscriptions.js';

const vision = useVision({ VIDEO_RETENTION_DAYS: 30 });
const subscriptions = new Subscriptions(vision);

const TABLES = ['holds', 'erasures', 'hauler_retention', 'recording_floors', 'coverage_days', 'recording_shares'];
afterEach(async () => {
  for (const table of TABLES) await vision.query(`DELETE FROM ${table}`);
});

const run = (app = vision.app) => app.app.get(Retention, { strict: false }).run();

/** A time of the month that was so many months ago. */
const at = (months: number, day = 15, clock = '08:00:00'): string => {
  const now = new Date();
  const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, day));
  return `${start.toISOString().slice(0, 10)}T${clock}Z`;
};
const partitionOf = (time: string) => `recordings_${time.slice(0, 7).replace('-', '')}`;
const short = (time: string): string => time.replace('.000Z', 'Z');
const later = (time: string, minutes: number) => new Date(Date.parse(time) + minutes * 60_000).toISOString();

const exists = async (time: string) =>
  (await vision.query<{ name: string | null }>('SELECT to_regclass($1) AS name', [partitionOf(time)]))[0]?.name !==
  null;

/** A recording of a minute whose file is due, in a partition of its month. */
async function footage(start: string, fields: Partial<Footage> = {}): Promise<string> {
  const planner = vision.app.app.get(PartitionPlanner);
  await planner.plan();
  await planner.ensure(PARTITIONED.recordings, [Date.parse(start)]);
  const { haulerId, connectionId } = vision;
  const row = { haulerId, connectionId, start, end: later(start, 1), storedDays: 31, ...fields };
  const [id = ''] = await insertFootage(vision.app, [row]);
  return id;
}

const statusOf = async (id: string) => (await vision.app.admin('GET', `/recordings/${id}`)).status;

const MONTH = at(24);

describe('a month of recordings that ended long ago', () => {
  test('is dropped when its files are deleted, and each call for one of them gets a clear answer', async () => {
    await vision.connect();
    const ids = [await footage(MONTH), await footage(later(MONTH, 5))];
    const failed = await footage(later(MONTH, 10), { status: 'failed' });
    await vision.query("UPDATE recordings SET updated_at = now() - interval '31 days' WHERE id = $1", [failed]);
    const share = await vision.app.admin<{ url: string; id: string }>('POST', `/recordings/${ids[0]}/shares`, {
      reason: 'Dispute',
    });
    expect(await run()).toMatchObject({ recordings: 2 });
    expect(await exists(MONTH)).toBe(false);
    for (const id of [...ids, failed])
      for (const path of ['', '/content', '/shares', '/tickets'])
        expect([path, (await vision.app.admin('GET', `/recordings/${id}${path}`)).status]).toEqual([path, 404]);
    expect((await vision.app.admin('POST', `/recordings/${ids[0]}/retry`)).status).toBe(404);
    expect((await fetch(share.body.url)).status).toBe(404);
    expect((await vision.app.admin('DELETE', `/shares/${share.body.id}`)).status).toBe(204);
    expect((await vision.app.admin('GET', '/shares')).status).toBe(200);
    expect((await vision.app.admin('GET', '/actions')).status).toBe(200);
    expect((await vision.app.admin<{ data: object[] }>('GET', '/doctor')).body.data).toEqual([]);
  });

  test.each<[string, (id: string) => Promise<unknown>, Partial<Footage>]>([
    ['a file that is not due', () => Promise.resolve(), { storedDays: 29 }],
    ['a recording that waits', () => Promise.resolve(), { status: 'available' }],
    ['a recording that failed lately', () => Promise.resolve(), { status: 'failed' }],
    [
      'a recording whose link expired lately',
      (id) => vision.query("UPDATE recordings SET status = 'expired' WHERE id = $1", [id]),
      { status: 'failed' },
    ],
    [
      'a hauler that keeps for ever',
      async (id) => {
        await vision.query("UPDATE recordings SET updated_at = now() - interval '99 days' WHERE id = $1", [id]);
        const forever = { onDemandDays: 30, continuousDays: null };
        await vision.app.admin('PUT', `/haulers/${vision.haulerId}/retention`, forever);
      },
      { status: 'failed' },
    ],
    ['a hold over another part of it', () => hold(later(MONTH, 7_000), later(MONTH, 7_060)), {}],
    [
      'an erasure that runs over a part of it',
      () =>
        vision.query(
          `INSERT INTO erasures (hauler_id, id, status, connection_id, truck_id, start_time, end_time, code, preview, created_by)
           VALUES ($1, $2, 'running', $3, 'OTHER', $4, $5, '', '{}', 'admin')`,
          [vision.haulerId, uuidv7(), vision.connectionId, MONTH, later(MONTH, 5)],
        ),
      {},
    ],
  ])('stays for %s', async (_, keep, fields) => {
    await vision.connect();
    const id = await footage(MONTH, fields);
    await keep(id);
    await run();
    expect([await exists(MONTH), await statusOf(id)]).toEqual([true, 200]);
  });

  test('stays for a hold that begins after it, over a recording that reaches there, until the hold is released', async () => {
    await vision.connect();
    const [start, next] = [at(24, 28, '23:00:00'), at(23, 1, '00:00:00')];
    const id = await footage(start, { end: later(next, 120) });
    const held = await hold(later(next, 60), later(next, 180));
    await run();
    expect([await exists(start), await statusOf(id)]).toEqual([true, 200]);
    await vision.app.admin('POST', `/holds/${held.body.id}/release`, { reason: 'settled' });
    await run();
    expect(await exists(start)).toBe(false);
  });

  test('stays while VIDEO_ROWS_DAYS have not passed since its end, and for ever with 0', async () => {
    await vision.connect();
    const [old, young] = [MONTH, at(12)];
    await footage(old);
    await footage(young);
    const never = await startTestApp({ on: vision.app, env: { VIDEO_RETENTION_DAYS: 30, VIDEO_ROWS_DAYS: 0 } });
    try {
      await run(never);
    } finally {
      await never.close();
    }
    expect([await exists(old), await exists(young)]).toEqual([true, true]);
    await run();
    expect([await exists(old), await exists(young)]).toEqual([false, true]);
  });

  test('is dropped once by two instances, and its sums by day with it, but not those of its neighbours', async () => {
    await vision.connect();
    const [before, first, last, after] = [at(25), at(24, 1, '00:00:00'), at(24, 28, '23:30:00'), at(23, 1, '00:00:00')];
    await footage(later(first, -10), { end: later(first, 20), storedDays: 1 });
    await footage(first, { cameraId: 'rear' });
    await footage(last, { end: later(after, 30), cameraId: 'rear' });
    await footage(after, { end: later(after, 10), storedDays: 1, cameraId: 'rear' });
    await countDays();
    const other = await startTestApp({ on: vision.app, env: { VIDEO_RETENTION_DAYS: 30 } });
    try {
      await Promise.all([run(), run(other)]);
    } finally {
      await other.close();
    }
    expect([await exists(before), await exists(first), await exists(after)]).toEqual([true, false, true]);
    const sums = await vision.query(
      `SELECT camera_id AS camera, day::text, (SELECT sum(ms)::int / 60000 FROM unnest(milliseconds) AS ms) AS minutes
       FROM coverage_days ORDER BY day, camera_id`,
    );
    const shown = sums.filter((row) => (row as { minutes: number }).minutes !== 0);
    expect(shown).toEqual([
      { camera: 'front', day: later(first, -10).slice(0, 10), minutes: 10 },
      { camera: 'front', day: first.slice(0, 10), minutes: 20 },
      { camera: 'rear', day: after.slice(0, 10), minutes: 10 },
    ]);
  });

  test('is dropped by the next run where a reader was in the way, or the connection was lost', async () => {
    await vision.connect();
    await footage(MONTH);
    const reader = vision.app.dataSource.createQueryRunner();
    await reader.startTransaction();
    await reader.query('SELECT FROM recordings LIMIT 1');
    await run();
    expect(await exists(MONTH)).toBe(true);
    const killed = run().then(
      () => 'done',
      () => 'failed',
    );
    await eventually(async () => {
      const rows = await vision.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND query LIKE 'LOCK TABLE ONLY recordings%' AND wait_event_type = 'Lock'`,
      );
      expect(rows).toHaveLength(1);
    });
    expect(await killed).toBe('failed');
    await reader.commitTransaction();
    await reader.release();
    expect(await exists(MONTH)).toBe(true);
    await run();
    expect(await exists(MONTH)).toBe(false);
  });

  test('whose holds cannot be asked stays', async () => {
    await vision.connect();
    await footage(MONTH);
    await vision.query("UPDATE recordings SET status = 'expired', deleted_at = now()");
    await vision.query('ALTER TABLE holds RENAME TO holds_away');
    try {
      await expect(run()).rejects.toThrow('holds');
      expect(await exists(MONTH)).toBe(true);
    } finally {
      await vision.query('ALTER TABLE holds_away RENAME TO holds');
    }
  });

  test('whose chunks are listed again does not come back, younger chunks and those of other connections do', async () => {
    const other = await vision.connect();
    const connectionId = await vision.connect();
    await footage(MONTH);
    await run();
    const chunks = [MONTH, later(MONTH, 30), at(12)].map((startTime) =>
      subscriptions.chunk(0, { startTime, endTime: later(startTime, 1) }),
    );
    vision.listRecordings(() => chunks);
    for (const id of [connectionId, other]) {
      await subscriptions.reachesNow(await subscriptions.follow(id));
      await vision.hurry();
    }
    const starts = await vision.query<{ id: string; at: string }>(
      `SELECT connection_id AS id, to_char(start_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS at
       FROM recordings ORDER BY connection_id, start_time`,
    );
    const of = (connection: string) => starts.filter((row) => row.id === connection).map((row) => row.at);
    expect(of(other)).toEqual([MONTH, later(MONTH, 30), at(12)].map((time) => time.replace('.000Z', 'Z')));
    expect(of(connectionId)).toEqual([at(12)]);
  });

  test('can be requested again as a clip, and the request whose clip is gone stays a removed one', async () => {
    const connectionId = await vision.connect();
    const range = { startTime: MONTH, endTime: later(MONTH, 5) };
    const requestOf = async (requestId: string) => {
      vision.partner.on(POST, accepts({ requestId }));
      const downloadUrl = vision.partner.link(sampleVideo(1_000));
      vision.listVideos(() => [element({ requestId, id: requestId, downloadUrl, ...range })]);
      return vision.becomes(await vision.order(connectionId, range), { status: 'stored' });
    };
    const { id } = await requestOf('first');
    await vision.query("UPDATE recordings SET stored_at = now() - interval '31 days'");
    await run();
    expect(await vision.query('SELECT FROM recordings')).toEqual([]);
    const removed = { status: 'expired', reasonCode: 'fileRemoved', recordingIds: [] };
    expect(await vision.read(id)).toMatchObject({ ...removed, parts: [{ reasonCode: 'fileRemoved' }] });
    expect((await vision.app.admin('POST', `/video-requests/${id}/retry`)).status).toBe(409);
    const attention = await vision.app.admin<{ data: { kind: string }[] }>('GET', '/attention');
    expect(attention.body.data.map(({ kind }) => kind)).not.toContain('failed-clips');
    const again = await requestOf('second');
    const path = `/recordings/${again.recordingIds[0]}/content`;
    expect((await vision.app.admin('GET', path)).status).toBe(200);
    await run();
    expect(await statusOf(again.recordingIds[0] ?? '')).toBe(200);
  });

  test('is named by a hold over it and by the bundle of that, beside what is still there', async () => {
    const connectionId = await vision.connect();
    const [start, next, end] = [at(24, 1, '00:00:00'), at(23, 1, '00:00:00'), at(23, 2, '00:00:00')];
    await footage(later(start, 60));
    const kept = await footage(next, { end: later(next, 60), storedDays: 1 });
    await run();
    expect([await exists(start), await exists(next)]).toEqual([false, true]);
    const range = { from: later(next, -60), to: end };
    const { status, body } = await hold(range.from, range.to);
    const missing = [
      { cameraId: 'front', from: short(range.from), to: short(next), cause: 'monthRemoved' },
      { cameraId: 'front', from: short(later(next, 60)), to: short(end), cause: 'notListed' },
    ];
    expect([status, body]).toEqual([201, expect.objectContaining({ stored: 1, missing })]);
    const { manifest } = await readBundle(vision.app, `/holds/${body.id}/bundle`);
    expect(manifest.hold.missing).toEqual(missing);
    expect(manifest.recordings).toMatchObject([{ id: kept, file: expect.any(String) }]);
    // Nothing of a range is left, nor of its cameras.
    const gone = await hold(start, later(start, 120));
    expect([gone.status, gone.body.missing]).toEqual([
      201,
      [{ from: short(start), to: short(later(start, 120)), cause: 'monthRemoved' }],
    ]);
    const empty = await readBundle(vision.app, `/holds/${gone.body.id}/bundle`);
    expect([empty.manifest.recordings, empty.manifest.hold.missing]).toEqual([[], gone.body.missing]);
    expect(empty.names).not.toContain('PROBLEMS.txt');
    const unknown = await vision.app.admin<{ error: { details: { violations: object[] } } }>('POST', '/holds', {
      ...{ caseId: 'CASE', reason: 'r', connectionId, truckId: 'TRUCK-8', from: start, to: end },
    });
    expect([unknown.status, unknown.body.error.details.violations]).toEqual([
      400,
      [{ path: 'truckId', rule: 'isKnown', message: expect.stringContaining(`before ${next.slice(0, 10)} may`) }],
    ]);
  });

  test('has its rows in the partition of the rest deleted by the same rule', async () => {
    await vision.connect();
    const years = ['1971-06-01T08:00:00Z', '1972-06-01T08:00:00Z'];
    const [gone = '', kept = ''] = [await footage(years[0] ?? ''), await footage(years[1] ?? '')];
    const future = await footage('2999-06-01T08:00:00Z');
    await hold('1972-06-01T00:00:00Z', '1972-06-02T00:00:00Z');
    await run();
    expect(await Promise.all([gone, kept, future].map(statusOf))).toEqual([404, 200, 200]);
    expect(await vision.query('SELECT start_before FROM recording_floors')).toEqual([
      { start_before: new Date('1971-07-01T00:00:00Z') },
    ]);
  });
});

const hold = (from: string, to: string) =>
  vision.app.admin<HoldDetails>('POST', '/holds', {
    ...{ caseId: 'CASE', reason: 'r', connectionId: vision.connectionId, truckId: 'TRUCK-7', from, to },
  });

/** As the service would have counted the inserted rows. */
const countDays = async () => {
  const days = await vision.query<{ day: string }>('SELECT DISTINCT start_time::date::text AS day FROM recordings');
  for (const { day } of days) await correctDay(vision.app.dataSource, day);
};
