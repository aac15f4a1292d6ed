import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { coverageOf, missingPieces, type Piece, type Subscribed } from '../../../src/vision/coverage/coverage.rules.js';
import { gapsOf } from '../../../src/vision/recordings/recording.rules.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, TRUCK, upload } from '../../support/reference-vision.js';
import { onServer } from '../../support/test-run.js';
import { hurryVideo } from '../../support/time.js';
import { connectVision } from '../../support/vision-partner.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
});
afterAll(() => app.close());

interface Interval {
  readonly startTime: string;
  readonly endTime: string;
  readonly cameraId?: string;
  readonly state: string;
  readonly cause?: string;
  readonly side?: string;
  readonly reason?: string;
}

const DAY = { from: '2026-01-31T00:00:00Z', to: '2026-02-01T00:00:00Z' };

const coverage = <Body = { data: Interval[] }>(connectionId: string, query: Record<string, string> = {}) =>
  app.admin<Body>(
    'GET',
    `/coverage?${new URLSearchParams({ connectionId, truckId: 'TRUCK-7', ...DAY, ...query }).toString()}`,
  );

const connect = async () => (await connectVision(app, 'https://partner.invalid')).id;

describe('the connection of a coverage', () => {
  const siteConnection = async () => {
    const id = await connect();
    await app.dataSource.query("UPDATE connections SET interface = 'site', customer_id = NULL WHERE id = $1", [id]);
    return id;
  };

  test.each<[string, () => Promise<string> | string]>([
    ['an unknown connection', () => randomUUID()],
    ['a connection of another interface', siteConnection],
  ])('%s: 400, as a request for video', async (_, connection) => {
    const connectionId = await connection();
    const { status, body } = await coverage<object>(connectionId);
    const range = { startTime: DAY.from, endTime: DAY.to };
    const ordered = { connectionId, truckId: 'TRUCK-7', cameraId: 'front', ...range };
    const order = await app.admin<object>('POST', '/video-requests', ordered);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { violations: [{ path: 'connectionId', rule: 'isKnown' }] } } });
    expect(body).toMatchObject({ error: { details: (order.body as { error: { details: object } }).error.details } });
  });

  test('with a wrong range as well: 400 with both violations', async () => {
    const { status, body } = await coverage<object>(randomUUID(), { to: DAY.from });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { violations: [{ path: 'to' }, { path: 'connectionId' }] } } });
  });

  test('a deleted connection still has its coverage', async () => {
    const connectionId = await connect();
    expect((await app.admin('DELETE', `/connections/${connectionId}`)).status).toBe(204);
    const { status, body } = await coverage(connectionId);
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ state: 'missing' }]);
  });
});

describe('a month of many chunks', () => {
  /** One chunk of 59.5 s for each minute. */
  const addChunks = (connectionId: string, camera: string, [first, last]: readonly [number, number]) =>
    // Without the time limits of the service.
    onServer(app.env.DATABASE_URL, (client) =>
      client.query(
        `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
       SELECT (SELECT hauler_id FROM connections WHERE id = $1), gen_random_uuid(), $1, 'continuous', n, 'c', 'TRUCK-7', $4, begins,
         begins + interval '59.5 seconds', 59, 'stored', now(), now(), now()
       FROM (SELECT n, timestamptz '2026-01-01T00:00:00Z' + n * interval '1 minute' AS begins
             FROM generate_series($2::integer, $3::integer) AS n) AS series`,
        [connectionId, first, last, camera],
      ),
    );

  test('has intervals without gaps, up to 50,000 recordings', async () => {
    const connectionId = await connect();
    await addChunks(connectionId, 'front', [0, 31 * 1440 - 1]);
    const [from, to] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
    const { body } = await coverage(connectionId, { from, to });
    expect(body.data).toHaveLength(2 * 31 * 1440);
    expect(body.data.map(({ startTime }) => startTime)).toEqual(
      [from, ...body.data.map(({ endTime }) => endTime)].slice(0, -1),
    );
    expect(body.data.slice(0, 2)).toMatchObject([
      { endTime: '2026-01-01T00:00:59.500Z', state: 'stored' },
      { endTime: '2026-01-01T00:01:00Z', state: 'missing' },
    ]);
    expect(body.data.at(-1)).toMatchObject({ endTime: to, state: 'missing' });
    await addChunks(connectionId, 'rear', [0, 10_000]);
    const tooMany = await coverage<object>(connectionId, { from, to });
    expect(tooMany).toMatchObject({ status: 400, body: { error: { details: { violations: [{ path: 'to' }] } } } });
    expect(tooMany.text).toContain('or pass resolution');
    const { body: days } = await coverage<Buckets>(connectionId, { from, to, resolution: '86400' });
    expect(days.data).toHaveLength(2 * 31);
    expect(days.data[8]).toEqual({
      cameraId: 'front',
      startTime: '2026-01-09T00:00:00Z',
      endTime: '2026-01-10T00:00:00Z',
      ...{ stored: 1440 * 59.5, available: 0, expired: 0, missing: 720, failed: 0 },
    });
  });
});

interface Bucket {
  readonly cameraId?: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly stored: number;
  readonly available: number;
  readonly expired: number;
  readonly missing: number;
  readonly failed: number;
}

interface Buckets {
  readonly data: Bucket[];
}

const STATES = ['stored', 'available', 'expired', 'missing', 'failed'] as const;

/** The seconds of each state that the intervals of one camera have in a bucket. */
function secondsIn(intervals: readonly Interval[], { cameraId, startTime, endTime }: Bucket) {
  const [from, to] = [Date.parse(startTime), Date.parse(endTime)];
  const seconds = { stored: 0, available: 0, expired: 0, missing: 0, failed: 0 };
  for (const each of intervals.filter((interval) => interval.cameraId === cameraId)) {
    const overlap = Math.min(Date.parse(each.endTime), to) - Math.max(Date.parse(each.startTime), from);
    seconds[each.state as keyof typeof seconds] += Math.max(0, overlap) / 1000;
    // The recordings of these tests fail without a code.
    if (each.state === 'missing' && each.cause === 'unknown') seconds.failed += Math.max(0, overlap) / 1000;
  }
  return seconds;
}

interface Chunk {
  readonly truckId?: string;
  readonly camera: string;
  readonly start: string;
  readonly seconds: number;
  readonly status: string;
  readonly source?: 'on-demand' | 'continuous';
  readonly gaps?: readonly { readonly startTime: string; readonly endTime: string; readonly reason: string }[];
}

const addRecordings = (haulerId: string, connectionId: string, chunks: readonly Chunk[]) =>
  app.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, part_id, partner_recording_id, customer_id, truck_id,
       camera_id, start_time, end_time, duration_seconds, status, gaps, fetch_by, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, source, CASE source WHEN 'on-demand' THEN gen_random_uuid() END, gen_random_uuid(), 'c',
       truck, camera, starts, starts + seconds * interval '1 second', seconds, status, gaps, now(), now(), now()
     FROM json_to_recordset($3) AS chunks
       (source text, truck text, camera text, starts timestamptz, seconds integer, status text, gaps jsonb)
     ON CONFLICT DO NOTHING`,
    [
      haulerId,
      connectionId,
      JSON.stringify(
        chunks.map(({ truckId = 'TRUCK-7', source = 'continuous', start, ...chunk }) => ({
          ...chunk,
          truck: truckId,
          source,
          starts: start,
        })),
      ),
    ],
  );

describe('coverage in buckets', () => {
  test.each([['900'], ['3600'], ['5000'], ['86400']])(
    'of %s s has the seconds of the intervals',
    async (resolution) => {
      const { haulerId, id } = await connectVision(app, 'https://partner.invalid');
      let seed = Number(resolution);
      const random = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
      const chunks = Array.from({ length: 300 }, (): Chunk => ({
        camera: ['front', 'rear', '2'][random(3)] ?? '',
        start: new Date(Date.parse(DAY.from) + (random(100_000) - 7000) * 1000).toISOString(),
        seconds: 1 + random(random(10) === 0 ? 9000 : 500),
        status: ['stored', 'available', 'expired', 'failed'][random(4)] ?? '',
        source: random(4) === 0 ? 'on-demand' : 'continuous',
      }));
      await addRecordings(haulerId, id, chunks);
      await app.dataSource.query("INSERT INTO partner_camera_names VALUES ($1, $2, 'TRUCK-7', 'rear', '2')", [
        haulerId,
        id,
      ]);
      const intervals = (await coverage(id)).body.data;
      const buckets = (await coverage<Buckets>(id, { resolution })).body.data;
      expect(new Set(buckets.map(({ cameraId }) => cameraId))).toEqual(new Set(['2', 'front']));
      expect(buckets).toHaveLength(2 * Math.ceil(86_400 / Number(resolution)));
      for (const bucket of buckets) {
        const expected = secondsIn(intervals, bucket);
        for (const state of STATES) expect(bucket[state]).toBeCloseTo(expected[state], 3);
      }
    },
  );

  test.each([['900'], ['5000'], ['86400']])(
    'of %s s has the seconds of the intervals, where few recordings overlap',
    async (resolution) => {
      const { haulerId, id } = await connectVision(app, 'https://partner.invalid');
      let seed = Number(resolution) + 1;
      const random = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
      const chunks = ['none', 'chunks', 'clip', 'long'].flatMap((camera) => {
        let start = Date.parse(DAY.from) - random(3000) * 1000;
        return Array.from({ length: 150 }, (_, i): Chunk => {
          const seconds = 1 + random(random(20) === 0 ? 9000 : 900);
          const overlap = camera === 'chunks' && i % 50 === 20 ? random(seconds) : 0;
          const chunk = {
            camera,
            start: new Date(start - overlap * 1000).toISOString(),
            seconds: camera === 'long' && i === 30 ? 20_000 : seconds,
            status: ['stored', 'available', 'expired', 'failed'][random(4)] ?? '',
            source: camera === 'clip' && i % 60 === 10 ? ('on-demand' as const) : ('continuous' as const),
          };
          start += (seconds + random(3) * random(200)) * 1000;
          return chunk;
        });
      });
      await addRecordings(haulerId, id, chunks);
      const intervals = (await coverage(id)).body.data;
      const buckets = (await coverage<Buckets>(id, { resolution })).body.data;
      expect(new Set(buckets.map(({ cameraId }) => cameraId)).size).toBe(4);
      for (const bucket of buckets) {
        const expected = secondsIn(intervals, bucket);
        for (const state of STATES) expect(bucket[state]).toBeCloseTo(expected[state], 3);
      }
    },
  );

  test("each time without a file has its cause and side, and what is still to come is nobody's", async () => {
    const { id, haulerId } = await connectVision(app, 'https://partner.invalid');
    const minute = (n: number) => new Date(Math.floor(Date.now() / 60_000 + n) * 60_000).toISOString();
    const ends = ['linkRefused', 'unreachable', 'invalidFile', 'interrupted', null];
    await addRecordings(
      haulerId,
      id,
      ends.map((_, n) => ({ camera: 'front', start: minute(n - 60), seconds: 60, status: 'failed' })),
    );
    for (const [n, code] of ends.entries()) {
      const parameters = [code, id, minute(n - 60)];
      await app.dataSource.query(
        'UPDATE recordings SET reason_code = $1 WHERE connection_id = $2 AND start_time = $3',
        parameters,
      );
    }
    const range = { cameraId: 'front', from: minute(-60), to: minute(60) };
    const { body } = await coverage(id, range);
    expect(body.data.map(({ cause, side }) => `${cause} ${side}`)).toEqual([
      'linkRefused partner',
      'unreachable network',
      'invalidFile partner',
      'interrupted platform',
      'unknown unknown',
      'notSubscribed platform',
      'future future',
    ]);
    const { body: buckets } = await coverage<Buckets>(id, { ...range, resolution: '7200' });
    expect(buckets.data).toMatchObject([{ missing: 7200, failed: 300 }]);
  });

  test('without a recording the whole time is missing', async () => {
    const { body } = await coverage<Buckets>(await connect(), { resolution: '50000' });
    expect(body.data).toEqual([
      {
        startTime: DAY.from,
        endTime: '2026-01-31T13:53:20Z',
        stored: 0,
        available: 0,
        expired: 0,
        missing: 50_000,
        failed: 0,
      },
      {
        startTime: '2026-01-31T13:53:20Z',
        endTime: DAY.to,
        stored: 0,
        available: 0,
        expired: 0,
        missing: 36_400,
        failed: 0,
      },
    ]);
  });

  test('more than 50,000 buckets: 400 that names the resolution', async () => {
    const { status, body } = await coverage<object>(await connect(), { resolution: '1' });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { violations: [{ path: 'resolution' }] } } });
  });
});

describe('what began long before', () => {
  const HOURS = 3600;
  const month = { from: '2026-01-10T00:00:00Z', to: '2026-01-20T00:00:00Z' };
  test.each<[string, Chunk[]]>([
    [
      'a chunk that spans the whole time',
      [{ camera: 'front', start: '2026-01-05T00:00:00Z', seconds: 400 * HOURS, status: 'stored' }],
    ],
    [
      'a chunk of an hour',
      [{ camera: 'front', start: '2026-01-09T23:00:00.001Z', seconds: HOURS, status: 'available' }],
    ],
    [
      'a better one, and a gap of a clip at the border of a slice',
      [
        { camera: 'front', start: '2025-12-20T00:00:00Z', seconds: 700 * HOURS, status: 'expired' },
        {
          ...{
            camera: 'front',
            start: '2026-01-09T20:00:00Z',
            seconds: 30 * HOURS,
            status: 'stored',
            source: 'on-demand',
          },
          gaps: [{ startTime: '2026-01-10T09:00:00Z', endTime: '2026-01-10T15:00:00Z', reason: 'off' }],
        },
        { camera: 'front', start: '2026-01-10T11:59:58.500Z', seconds: 10, status: 'available' },
        { camera: 'front', start: '2026-01-10T12:00:01Z', seconds: 1, status: 'stored' },
      ],
    ],
  ])('%s counts', async (_, chunks) => {
    const { haulerId, id } = await connectVision(app, 'https://partner.invalid');
    await addRecordings(haulerId, id, chunks);
    const intervals = (await coverage(id, month)).body.data;
    const buckets = (await coverage<Buckets>(id, { ...month, resolution: '5000' })).body.data;
    expect(buckets).toHaveLength(173);
    for (const bucket of buckets) {
      const expected = secondsIn(intervals, bucket);
      for (const state of STATES) expect(bucket[state]).toBeCloseTo(expected[state], 3);
    }
  });
});

test('the coverage of a month reads each of its chunks once, and none of the months before', async () => {
  const { haulerId, id } = await connectVision(app, 'https://partner.invalid');
  const MONTH = 4_000;
  await app.dataSource.query('TRUNCATE recordings');
  // Each begins before the end of the one before.
  await app.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
     SELECT $1, gen_random_uuid(), $2, 'continuous', n, 'c', 'TRUCK-7', 'front', begins, begins + interval '680 seconds', 680,
       CASE n % 5 WHEN 0 THEN 'available' WHEN 1 THEN 'expired' ELSE 'stored' END, now(), now(), now()
     FROM (SELECT n, timestamptz '2026-02-01T00:00:00Z' + n * interval '669.6 seconds' AS begins
           FROM generate_series($3::integer, $4::integer) AS n) AS series`,
    [haulerId, id, -MONTH, MONTH - 1],
  );
  const read = (): Promise<number> =>
    onServer(app.env.DATABASE_URL, async (client) => {
      // A connection reports what it has read when it ends.
      await client.query(
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'haulbridge%'`,
      );
      const { rows } = await client.query<{ read: string }>(
        "SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes WHERE relname LIKE 'recordings%'",
      );
      return Number(rows[0]?.read);
    });
  await app.dataSource.query('ANALYZE recordings');
  const before = await read();
  const query = { from: '2026-02-01T00:00:00Z', to: '2026-03-04T00:00:00Z', resolution: '86400' };
  expect((await coverage(id, query)).status).toBe(200);
  const chunks = (await read()) - before;
  expect(chunks).toBeGreaterThanOrEqual(MONTH);
  expect(chunks).toBeLessThan(1.1 * MONTH);
});

describe('ten readings at once, each of which takes long', () => {
  const whileLocked = async <T>(work: () => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: app.env.DATABASE_URL });
    await client.connect();
    await client.query('BEGIN; LOCK TABLE recordings');
    try {
      const working = work();
      await delay(1_500);
      await client.query('COMMIT');
      return await working;
    } finally {
      await client.end();
    }
  };
  const stored = ({ status, body }: { status: number; body: Buckets }) => [status, body.data[0]?.stored];

  test.each<[string, (i: number) => string]>([
    ['the same', () => '86400'],
    ['different ones', (i) => String(80_000 + i)],
  ])('%s: none is refused, and the next one has what was added since', async (_, resolution) => {
    const { haulerId, id } = await connectVision(app, 'https://partner.invalid');
    const chunk = { camera: 'front', seconds: 60, status: 'stored' };
    await addRecordings(haulerId, id, [{ ...chunk, start: '2026-01-31T01:00:00Z' }]);
    const read = (i: number) => coverage<Buckets>(id, { resolution: resolution(i) });
    const replies = await whileLocked(() => Promise.all(Array.from({ length: 10 }, (__, i) => read(i))));
    expect(replies.map(stored)).toEqual(replies.map(() => [200, 60]));
    await addRecordings(haulerId, id, [{ ...chunk, start: '2026-01-31T02:00:00Z' }]);
    expect(stored(await read(0))).toEqual([200, 120]);
  });
});

describe('the gaps of a clip', () => {
  test('are missing, also where the clip is stored', async () => {
    for (const minute of [0, 2]) await upload(app, minute);
    const { id: haulerId } = (await app.admin<{ id: string }>('POST', '/haulers', { name: 'Gaps' })).body;
    const apiKey = (await issueKey(app, ['vision'])).key;
    const connection = { haulerId, interface: 'vision', baseUrl: app.url, apiKey, customerId: CUSTOMER };
    const { id: connectionId } = (await app.admin<{ id: string }>('POST', '/connections', connection)).body;
    const clip = { connectionId, truckId: TRUCK, cameraId: 'front' };
    const order = { ...clip, startTime: at(0), endTime: at(3) };
    const { id } = (await app.admin<{ id: string }>('POST', '/video-requests', order)).body;
    await eventually(async () => {
      await hurryVideo(app);
      // A download that is made due again and again uses up its attempts.
      await delay(300);
      expect((await app.admin('GET', `/video-requests/${id}`)).body).toMatchObject({ status: 'stored' });
    });
    const range = { truckId: TRUCK, from: at(0), to: at(3) };
    const { body } = await coverage(connectionId, range);
    const times = [0, 1, 2, 3].map((minute) => at(minute).replace('.000', ''));
    expect(body.data).toMatchObject([
      { startTime: times[0], endTime: times[1], state: 'stored' },
      { startTime: times[1], endTime: times[2], state: 'missing', reason: expect.stringContaining('did not record') },
      { startTime: times[2], endTime: times[3], state: 'stored' },
    ]);
    const buckets = await coverage<Buckets>(connectionId, { ...range, resolution: '90' });
    expect(buckets.body.data).toMatchObject([
      { stored: 60, missing: 30 },
      { stored: 60, missing: 30 },
    ]);
    const recordings = await app.admin<{ data: object[] }>('GET', `/recordings?connectionId=${connectionId}`);
    expect(recordings.body.data).toMatchObject([{ durationSeconds: 120 }]);
  });

  const listed = { startTime: '2026-01-31T00:00:00.000000Z', endTime: '2026-01-31T00:00:30.000000Z' };
  const clip = {
    ...listed,
    id: 'a',
    customerId: 'c',
    truckId: 't',
    cameraId: 'front',
    downloadUrl: 'https://x.example',
  };

  test.each<[string, number, string[]]>([
    ['a clip as long as its range', 30, []],
    ['a clip that is half a second off', 29, []],
    ['a clip of unknown length', 0, []],
    ['a shorter clip', 20, ['00:00:20']],
  ])('%s, of a partner that names no gaps', (_, durationSeconds, starts) => {
    expect(gapsOf({ ...clip, durationSeconds }).map(({ startTime }) => startTime.slice(11, 19))).toEqual(starts);
  });

  test('are cut at the range of the clip', () => {
    const gap = { startTime: '2026-01-30T00:00:00.000000Z', endTime: '2026-01-31T00:00:10.000000Z' };
    const outside = { startTime: '2026-01-31T00:01:00.000000Z', endTime: '2026-01-31T00:02:00.000000Z' };
    expect(gapsOf({ ...clip, durationSeconds: 20, gaps: [gap, outside] })).toMatchObject([
      { startTime: listed.startTime, endTime: gap.endTime },
    ]);
  });
});

interface Truck {
  readonly haulerId: string;
  readonly haulerName: string;
  readonly truckId: string;
  readonly absent: object[];
  readonly days: Record<string, unknown>[];
}

describe('the coverage of a fleet', () => {
  const fleet = (query: Record<string, string>) =>
    app.admin<{ data: Truck[]; pagination: object }>('GET', `/coverage/fleet?${new URLSearchParams(query).toString()}`);
  const subscribe = (haulerId: string, id: string, truckId: string, camera: string | null = null) =>
    app.dataSource.query(
      `INSERT INTO video_subscriptions (hauler_id, id, connection_id, customer_id, truck_id, camera_id, start_time,
         interval_seconds, enabled, read_until, created_at, updated_at)
       VALUES ($1, gen_random_uuid(), $2, 'c', $3, $4, '2026-01-01', 300, true, '2026-01-01', now(), now())`,
      [haulerId, id, truckId, camera],
    );
  const hour = { seconds: 3600, status: 'stored' };
  const none = { stored: 0, available: 0, expired: 0, failed: 0 };

  test('has one row per truck, the worst first, with the seconds of all its cameras by day', async () => {
    const { haulerId, id } = await connectVision(app, 'https://partner.invalid');
    const other = await connectVision(app, 'https://partner.invalid');
    await addRecordings(haulerId, id, [
      { ...hour, truckId: 'T1', camera: 'front', start: '2026-01-30T23:30:00Z' },
      { ...hour, truckId: 'T1', camera: 'rear', start: '2026-01-31T10:00:00Z', status: 'available' },
      { ...hour, truckId: 'T2', camera: 'front', start: '2026-01-31T05:30:00Z', status: 'expired' },
      { ...hour, truckId: 'T4', camera: 'front', start: '2026-01-31T05:30:00Z' },
      { ...hour, truckId: 'T4', camera: 'rear', start: '2026-01-20T05:30:00Z' },
      { ...hour, truckId: 'T9', camera: 'front', start: '2025-12-01T05:30:00Z' },
    ]);
    await addRecordings(other.haulerId, other.id, [
      { ...hour, truckId: 'O1', camera: 'front', start: '2026-01-31T05:30:00Z', seconds: 7200, status: 'failed' },
    ]);
    await subscribe(haulerId, id, 'T3');
    const query = { haulerId, from: '2026-01-30T12:00:00Z', to: '2026-02-01T00:00:00Z' };
    const half = { day: '2026-01-30', startTime: query.from, endTime: '2026-01-31T00:00:00Z' };
    const whole = { day: '2026-01-31', startTime: half.endTime, endTime: query.to };
    const row = (truckId: string, cameras: number, absent: object[], days: object[]) => ({
      ...{ haulerId, haulerName: 'Test', connectionId: id, truckId, cameras, absent },
      days: days.map((seconds, i) => ({ ...[half, whole][i], ...none, ...seconds })),
    });
    const rows = [
      row('T2', 1, [], [{ missing: 43_200 }, { expired: 3600, missing: 86_400 - 3600 }]),
      row('T3', 1, [{}], [{ missing: 43_200 }, { missing: 86_400 }]),
      row(
        'T4',
        2,
        [{ cameraId: 'rear', lastRecordedAt: '2026-01-20T05:30:00Z' }],
        [{ missing: 86_400 }, { stored: 3600, missing: 2 * 86_400 - 3600 }],
      ),
      row(
        'T1',
        2,
        [],
        [
          { stored: 1800, missing: 86_400 - 1800 },
          { stored: 1800, available: 3600, missing: 2 * 86_400 - 5400 },
        ],
      ),
    ];
    const all = await fleet(query);
    expect(all.body.data).toEqual(rows);
    const pages = await Promise.all(['1', '2', '3'].map((page) => fleet({ ...query, page, pageSize: '3' })));
    expect(pages.map(({ body }) => body.data)).toEqual([rows.slice(0, 3), rows.slice(3), []]);
    expect(pages[1]?.body.pagination).toMatchObject({ page: 2, pageSize: 3, totalItems: 4, totalPages: 2 });

    const haulers = (await fleet({ from: query.from, to: query.to, pageSize: '100' })).body.data.filter((truck) =>
      [haulerId, other.haulerId].includes(truck.haulerId),
    );
    expect(haulers.map(({ truckId }) => truckId)).toEqual(['O1', 'T2', 'T3', 'T4', 'T1']);
  });

  test('counts the days of a zone, also those with 23 and 25 hours, and a clip that never came', async () => {
    const { haulerId, id } = await connectVision(app, 'https://partner.invalid');
    const at = { ...hour, truckId: 'T1', camera: 'front' };
    await addRecordings(haulerId, id, [
      { ...at, start: '2026-03-08T05:30:00Z' },
      { ...at, start: '2026-03-09T04:30:00Z' },
    ]);
    const range = { startTime: '2026-03-09T12:00:00Z', endTime: '2026-03-09T12:30:00Z' };
    const order = { connectionId: id, truckId: 'T1', cameraId: 'front', ...range };
    const { body: request } = await app.admin<{ id: string }>('POST', '/video-requests', order);
    for (const table of ['video_requests', 'video_request_parts']) {
      const key = table === 'video_requests' ? 'id' : 'request_id';
      await app.dataSource.query(`UPDATE ${table} SET status = 'failed', reason = 'no such truck' WHERE ${key} = $1`, [
        request.id,
      ]);
    }
    const week = { from: '2026-03-07T06:00:00Z', to: '2026-03-10T05:00:00Z', zone: 'America/Chicago' };
    const { body } = await fleet({ haulerId, ...week });
    expect(body.data[0]?.days.map(({ day, stored, failed, missing }) => [day, stored, failed, missing])).toEqual([
      ['2026-03-07', 1800, 0, 86_400 - 1800],
      ['2026-03-08', 3600 - 1800 + 1800, 0, 23 * 3600 - 3600],
      ['2026-03-09', 1800, 1800, 86_400 - 1800],
    ]);
    expect(body.data[0]?.days[1]).toMatchObject({ startTime: '2026-03-08T06:00:00Z', endTime: '2026-03-09T05:00:00Z' });
    const autumn = { from: '2026-10-31T05:00:00Z', to: '2026-12-01T06:00:00Z', zone: 'America/Chicago' };
    expect((await fleet({ haulerId, ...autumn })).status).toBe(200);
    expect(await fleet({ haulerId, ...week, zone: 'Mars/Olympus' })).toMatchObject({
      status: 400,
      body: { error: { details: { violations: [{ path: 'zone' }] } } },
    });
    const day = { connectionId: id, truckId: 'T1', from: '2026-03-09T11:00:00Z', to: '2026-03-09T13:00:00Z' };
    expect((await coverage(id, day)).body.data.map(({ cause }) => cause)).toEqual([
      'notSubscribed',
      'clipFailed',
      'notSubscribed',
    ]);
  });

  test('of a hauler without trucks is empty, and a range of more than 31 days is refused', async () => {
    const range = { from: DAY.from, to: DAY.to };
    expect((await fleet({ haulerId: randomUUID(), ...range })).body).toMatchObject({ data: [] });
    expect((await fleet({ haulerId: randomUUID(), from: '2025-01-01T00:00:00Z', to: DAY.to })).status).toBe(400);
  });
});

describe('the summary of a truck', () => {
  interface Summary {
    readonly data: { cameraId?: string; lastRecordedAt?: string; failed: number; causes: object[] }[];
  }
  const summary = (connectionId: string, range: Record<string, string>) => {
    const query = new URLSearchParams({ connectionId, truckId: 'TRUCK-7', ...range });
    return app.admin<Summary>('GET', `/coverage/summary?${query.toString()}`);
  };

  test('adds up the intervals of each camera by cause, the worst first, and has the cameras that recorded nothing', async () => {
    const { id, haulerId } = await connectVision(app, 'https://partner.invalid');
    const chunk = (camera: string, start: string, status: string) => ({ camera, start, seconds: 1200, status });
    await addRecordings(haulerId, id, [
      chunk('front', '2026-01-31T08:00:00Z', 'stored'),
      chunk('rear', '2026-01-31T08:00:00Z', 'stored'),
      ...['09:00', '10:00', '11:00'].map((time) => chunk('rear', `2026-01-31T${time}:00Z`, 'failed')),
      chunk('rear', '2026-01-31T12:00:00Z', 'expired'),
      chunk('side', '2026-01-10T08:00:00Z', 'stored'),
    ]);
    await app.dataSource.query(
      `UPDATE recordings SET reason_code = CASE start_time::time WHEN '09:00' THEN 'linkRefused' WHEN '10:00' THEN 'invalidFile'
         WHEN '12:00' THEN 'notListed' ELSE 'linkRefused' END WHERE connection_id = $1 AND status <> 'stored'`,
      [id],
    );
    const range = { from: '2026-01-29T00:00:00Z', to: '2026-02-02T00:00:00Z' };
    const { body } = await summary(id, range);
    expect(body.data.map(({ cameraId }) => cameraId)).toEqual(['rear', 'front', 'side']);
    expect(body.data[0]).toMatchObject({ stored: 1200, expired: 1200, failed: 3600 });
    expect(body.data[0]?.causes).toEqual([
      { cause: 'notSubscribed', side: 'platform', seconds: 4 * 86_400 - 6000 },
      { cause: 'linkRefused', side: 'partner', seconds: 2400 },
      { cause: 'invalidFile', side: 'partner', seconds: 1200 },
      { cause: 'notListed', side: 'partner', seconds: 1200 },
    ]);
    expect(body.data[2]).toMatchObject({ stored: 0, failed: 0, lastRecordedAt: '2026-01-10T08:00:00Z' });
    // The same cameras at every zoom.
    const cameras = (rows: { cameraId?: string }[]) => [...new Set(rows.map(({ cameraId }) => cameraId))];
    expect(cameras((await coverage(id, range)).body.data)).toEqual(['front', 'rear', 'side']);
    expect(cameras((await coverage<Buckets>(id, { ...range, resolution: '3600' })).body.data)).toEqual([
      'front',
      'rear',
      'side',
    ]);
  });

  test('of an unknown connection, or of too long a time: 400', async () => {
    expect((await summary(randomUUID(), DAY)).status).toBe(400);
    expect((await summary(await connect(), { from: '2025-01-01T00:00:00Z', to: DAY.to })).status).toBe(400);
  });
});

describe('coverage (decision 49)', () => {
  const piece = (start: number, end: number, state: Piece['state'], recordingId?: string): Piece => ({
    start,
    end,
    state,
    ...(recordingId === undefined ? {} : { recordingId }),
  });
  const covered = (pieces: readonly Piece[], from: number, to: number, subscribed: readonly Subscribed[] = []) =>
    coverageOf([...pieces, ...missingPieces(subscribed)], from, to);
  const brief = (pieces: readonly Piece[]) =>
    pieces.map(({ start, end, state, recordingId = '' }) => [start, end, state, recordingId].join(' ').trim());

  test.each<[string, Piece[], string[]]>([
    ['nothing', [], ['0 10 missing']],
    [
      'a gap',
      [piece(0, 3, 'stored', 'a'), piece(5, 10, 'available', 'b')],
      ['0 3 stored a', '3 5 missing', '5 10 available b'],
    ],
    [
      'pieces that are cut at the ends',
      [piece(-5, 2, 'stored', 'a'), piece(9, 20, 'expired', 'b')],
      ['0 2 stored a', '2 9 missing', '9 10 expired b'],
    ],
    [
      'the better one of two',
      [piece(0, 10, 'expired', 'a'), piece(4, 6, 'stored', 'b')],
      ['0 4 expired a', '4 6 stored b', '6 10 expired a'],
    ],
    [
      'the first of two equal ones',
      [piece(2, 8, 'stored', 'b'), piece(0, 5, 'stored', 'a')],
      ['0 5 stored a', '5 8 stored b', '8 10 missing'],
    ],
    [
      'the longer of two with the same start',
      [piece(0, 5, 'stored', 'a'), piece(0, 8, 'stored', 'b')],
      ['0 8 stored b', '8 10 missing'],
    ],
    [
      'the better one of all',
      [
        piece(0, 10, 'missing', 'd'),
        piece(0, 8, 'expired', 'c'),
        piece(0, 4, 'stored', 'a'),
        piece(0, 6, 'available', 'b'),
      ],
      ['0 4 stored a', '4 6 available b', '6 8 expired c', '8 10 missing d'],
    ],
    ['an empty piece', [piece(4, 4, 'stored', 'a')], ['0 10 missing']],
  ])('%s', (_, pieces, expected) => expect(brief(covered(pieces, 0, 10))).toEqual(expected));

  test('covers every moment once', () => {
    let seed = 7;
    const random = (max: number) => (seed = (seed * 48_271) % 2_147_483_647) % max;
    for (let round = 0; round < 50; round++) {
      const pieces = Array.from({ length: random(30) }, (_, i) => {
        const start = random(100);
        return piece(
          start,
          start + random(30),
          (['stored', 'available', 'expired', 'missing'] as const)[random(4)] ?? 'stored',
          `r${i}`,
        );
      });
      const result = covered(pieces, 10, 90);
      expect(result[0]?.start).toBe(10);
      expect(result.at(-1)?.end).toBe(90);
      result.forEach(({ start, end }, i) => {
        expect(end).toBe(result[i + 1]?.start ?? 90);
        expect(start).toBeLessThan(end);
      });
    }
  });

  test('gives the reason for missing recordings', () => {
    const subscribed = [{ start: 10, readUntil: 50, unread: [{ start: 20, end: 30, reason: 'it answered 500.' }] }];
    expect(covered([], 0, 60, subscribed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '0 10 No subscription includes the truck at this time.',
      '10 20 The partner lists no recording.',
      '20 30 Not read yet: it answered 500.',
      '30 50 The partner lists no recording.',
      '50 60 Not read yet.',
    ]);
  });

  test('shows a failed recording before an unread window, and that before what another subscription has read', () => {
    const unread = [{ start: 20, end: 30, reason: 'it answered 500.' }];
    const subscribed = [
      { start: 0, readUntil: 60, unread: [] },
      { start: 10, readUntil: 50, unread },
    ];
    const found = covered([piece(22, 28, 'missing', 'a')], 15, 35, subscribed);
    expect(found.map(({ start, end, recordingId, reason }) => `${start} ${end} ${recordingId ?? reason}`)).toEqual([
      '15 20 The partner lists no recording.',
      '20 22 Not read yet: it answered 500.',
      '22 28 a',
      '28 30 Not read yet: it answered 500.',
      '30 35 The partner lists no recording.',
    ]);
  });

  test('shows the failure of the last reading after what was read', () => {
    const window = { start: 20, end: 30, reason: 'it answered 500.' };
    const subscribed = [{ start: 10, readUntil: 50, unread: [window], reason: 'it answered 404.' }];
    expect(covered([], 0, 60, subscribed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '0 10 No subscription includes the truck at this time.',
      '10 20 The partner lists no recording.',
      '20 30 Not read yet: it answered 500.',
      '30 50 The partner lists no recording.',
      '50 60 Not read yet: it answered 404.',
    ]);
  });

  test('says after the deletion of the connection that nothing more will be read', () => {
    const window = { start: 20, end: 30, reason: 'it answered 500.' };
    const subscribed = [{ start: 10, readUntil: 50, unread: [window], reason: 'it answered 404.', isEnded: true }];
    const ended = 'Not read: the connection was deleted, and nothing more will be read.';
    expect(covered([], 10, 60, subscribed).map(({ start, end, reason }) => `${start} ${end} ${reason}`)).toEqual([
      '10 20 The partner lists no recording.',
      `20 30 ${ended}`,
      '30 50 The partner lists no recording.',
      `50 60 ${ended}`,
    ]);
  });
});
