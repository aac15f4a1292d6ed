import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { Recording } from '../../../src/contracts/vision/vision.dto.js';
import { inTransaction } from '../../../src/database/transaction.js';
import { readList } from '../../support/listed-pages.js';
import type { VisionConnection } from '../../../src/vision/client/vision-connections.repository.js';
import { RecordingsRepository } from '../../../src/vision/recordings/recordings.repository.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, refuses } from '../../support/scripted-partner.js';
import { Subscriptions } from './subscriptions.js';
import { CONTINUOUS, element, type Element, inHours, sha256 } from '../../support/scripted-vision.js';
import { connectVision } from '../../support/vision-partner.js';
import { useVision } from '../../support/vision-scene.js';

const CHUNKS = 1_000;
const expiresAt = inHours(8);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { SIDES: new Set(['partner']) } });
  // The test controls when the table has statistics.
  await app.dataSource.query('ALTER TABLE recordings_rest SET (autovacuum_enabled = false)');
});
afterAll(() => app.close());

const chunksOf = (fields: (n: number) => Element) => {
  const elements = Array.from({ length: CHUNKS }, (_, n) => {
    const [startTime, endTime] = [n, n + 1].map((at) => new Date(Date.UTC(2026, 0, 31) + at * 5_000).toISOString());
    return element({
      startTime,
      endTime,
      durationSeconds: 5,
      downloadUrl: 'https://video.example/x',
      expiresAt,
      ...fields(n),
    });
  });
  return readList(Recording, { data: elements }, 'customer-1').items;
};

/** Rows of the table that this session has read, by any scan, and that it has not reported yet: none in a transaction. */
async function rowsRead(manager: EntityManager): Promise<number> {
  const [row] = await manager.query<[{ rows: number }]>(
    `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS rows FROM pg_stat_xact_user_tables
     WHERE relname LIKE 'recordings%'`,
  );
  return row.rows;
}

const store = new RecordingsRepository();

async function connected() {
  return (await connectVision(app, 'https://partner.example')) as VisionConnection;
}

test.each<[string, string | undefined]>([
  ['without statistics of the table', undefined],
  ['with them', 'ANALYZE recordings'],
])('recordings that are listed again are looked up one by one, %s', async (_, first) => {
  const connection = await connected();
  const add = (chunks: readonly Recording[]) =>
    inTransaction(app.dataSource, async (manager) => {
      const before = await rowsRead(manager);
      const added = await store.addChunks(manager, connection, chunks);
      return { added, rows: (await rowsRead(manager)) - before };
    });
  const byId = chunksOf((n) => ({ id: `chunk-${n}` }));
  expect(await add(byId)).toMatchObject({ added: CHUNKS });
  if (first !== undefined) await app.dataSource.query(first);
  const again = await add(byId);
  expect(again.added).toBe(0);
  expect(again.rows).toBeLessThan(10 * CHUNKS);
  const byRange = await add(chunksOf((n) => ({ id: `other-${n}` })));
  expect(byRange.added).toBe(0);
  expect(byRange.rows).toBeLessThan(10 * CHUNKS);
});

describe('a recording that is listed again', () => {
  const listed = ([from, to]: readonly [string, string], fields: Element = {}) =>
    element({
      id: 'a',
      startTime: `2026-01-31T${from}Z`,
      endTime: `2026-01-31T${to}Z`,
      downloadUrl: 'https://video.example/old',
      expiresAt,
      ...fields,
    });
  const longer = { downloadUrl: 'https://video.example/new', expiresAt: inHours(9) };
  const five = ['08:00:00', '08:05:00'] as const;
  const half = ['08:02:30', '08:07:30'] as const;
  const CLIP = "source = 'on-demand', part_id = gen_random_uuid()";
  const STARTED = "started_at = now() + interval '1 hour'";

  /** Returns the rows after both lists, with changes between them, and how many are to be fetched again. */
  async function after(first: readonly Element[], changes: readonly string[], second: readonly Element[]) {
    const connection = await connected();
    const add = (elements: readonly Element[]) => {
      const { items } = readList(Recording, { data: elements }, 'customer-1');
      return inTransaction(app.dataSource, (manager) => store.addChunks(manager, connection, items));
    };
    await add(first);
    for (const change of changes) {
      await app.dataSource.query(`UPDATE recordings SET ${change} AND connection_id = $1`, [connection.id]);
    }
    const added = await add(second);
    const rows = await app.dataSource.query<{ text: string }[]>(
      `SELECT concat_ws(' ', partner_recording_id, to_char(start_time AT TIME ZONE 'UTC', 'HH24:MI:SS'),
         to_char(end_time AT TIME ZONE 'UTC', 'HH24:MI:SS'), status, substr(link, 23),
         CASE WHEN due_at > now() THEN 'later' END) AS text FROM recordings WHERE connection_id = $1 ORDER BY 1`,
      [connection.id],
    );
    return { added, rows: rows.map(({ text }) => text) };
  }

  test.each<[string, Element, string, Element, number, string[]]>([
    [
      'takes the link that lives longer while it waits, and keeps its due time',
      listed(five),
      "due_at = now() + interval '1 hour' WHERE true",
      listed(five, longer),
      1,
      ['a 08:00:00 08:05:00 available new later'],
    ],
    [
      'keeps its link if the new one expires sooner',
      listed(five),
      'relinks = 0 WHERE true',
      listed(five, { ...longer, expiresAt: inHours(7) }),
      0,
      ['a 08:00:00 08:05:00 available old'],
    ],
    [
      'keeps its link while it is fetched',
      listed(five),
      `${STARTED} WHERE true`,
      listed(five, longer),
      0,
      ['a 08:00:00 08:05:00 available old'],
    ],
    [
      'is fetched after it expired',
      listed(five),
      "status = 'expired', due_at = now() + interval '1 hour' WHERE true",
      listed(five, longer),
      1,
      ['a 08:00:00 08:05:00 available new'],
    ],
    [
      'is tried with a link that has expired by our clock',
      listed(five),
      "status = 'failed', due_at = NULL WHERE true",
      listed(five, { ...longer, expiresAt: inHours(-1) }),
      1,
      ['a 08:00:00 08:05:00 available new'],
    ],
    [
      'stays expired after its file was deleted',
      listed(five),
      "status = 'expired', due_at = NULL, deleted_at = now() WHERE true",
      listed(five, longer),
      0,
      ['a 08:00:00 08:05:00 expired old'],
    ],
    [
      'is the same one with less than a second more at either end',
      listed(five),
      "status = 'stored', due_at = NULL WHERE true",
      listed(['07:59:59.100', '08:05:00.900'], longer),
      0,
      ['a 08:00:00 08:05:00 stored old'],
    ],
    [
      'is fetched again with a longer range',
      listed(five),
      "status = 'stored', due_at = NULL WHERE true",
      listed(['08:00:00', '08:05:02'], longer),
      1,
      ['a 08:00:00 08:05:00 stored old', 'a 08:00:00 08:05:02 available new'],
    ],
    [
      'is another one with another range',
      listed(five),
      'relinks = 0 WHERE true',
      listed(['08:05:00', '08:10:00'], longer),
      1,
      ['a 08:00:00 08:05:00 available old', 'a 08:05:00 08:10:00 available new'],
    ],
    [
      'is stored beside a clip with its range',
      listed(five),
      `${CLIP} WHERE true`,
      listed(five, { ...longer, id: 'b' }),
      1,
      ['a 08:00:00 08:05:00 available old', 'b 08:00:00 08:05:00 available new'],
    ],
    [
      'is stored beside a clip with its id',
      listed(five),
      `${CLIP} WHERE true`,
      listed(half, longer),
      1,
      ['a 08:00:00 08:05:00 available old', 'a 08:02:30 08:07:30 available new'],
    ],
  ])('%s', async (_, first, change, second, added, rows) => {
    expect(await after([first], [change], [second])).toEqual({ added, rows });
  });

  test('matches by its range before its id', async () => {
    const changes = [
      "status = 'stored', due_at = NULL WHERE partner_recording_id = 'a'",
      "status = 'expired', due_at = NULL WHERE partner_recording_id = 'b'",
    ];
    expect(await after([listed(five), listed(half, { id: 'b' })], changes, [listed(half, longer)])).toEqual({
      added: 1,
      rows: ['a 08:00:00 08:05:00 stored old', 'b 08:02:30 08:07:30 available new'],
    });
  });

  test('matches by its camera among dozens with one id, also with slightly different times', async () => {
    const cameras = Array.from({ length: 30 }, (_, n) => ({ cameraId: `camera ${n}` }));
    const chunks = cameras.map((camera) => listed(five, camera));
    const again = cameras.map((camera) => listed(['08:00:00.300', '08:05:00.300'], camera));
    const stored = "status = 'stored', due_at = NULL WHERE true";
    expect((await after(chunks, [stored], again)).added).toBe(0);
    expect((await after(chunks, [stored], again.toReversed())).added).toBe(0);
  });
});

test('a new recording and the end of a download on the same day do not deadlock', async () => {
  const connection = await connected();
  const [one, longer, other] = chunksOf((n) => ({ id: `met-${n}` })).slice(0, 3);
  if (one === undefined || longer === undefined || other === undefined) throw new Error('three recordings are needed');
  let tries = 0;
  const add = (...chunks: readonly Recording[]): Promise<number> =>
    inTransaction(app.dataSource, (manager) => {
      tries++;
      return store.addChunks(manager, connection, chunks);
    });
  await add(one);

  const download = app.dataSource.createQueryRunner();
  await download.startTransaction();
  await download.query("SELECT 1 FROM recordings WHERE partner_recording_id = 'met-0' FOR UPDATE");
  const added = add({ ...one, endTime: longer.endTime }, other);
  await eventually(async () => {
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    expect(await app.dataSource.query(waiting)).toHaveLength(1);
  });
  await download.query("UPDATE recordings SET status = 'stored' WHERE partner_recording_id = 'met-0'");
  await download.commitTransaction();
  await download.release();
  expect(await added).toBe(1);
  expect(tries).toBe(2);
  const counted = `SELECT status, count(*)::int AS rows FROM recordings
    WHERE connection_id = $1 GROUP BY status ORDER BY status`;
  expect(await app.dataSource.query(counted, [connection.id])).toEqual([
    { status: 'available', rows: 1 },
    { status: 'stored', rows: 1 },
  ]);
});

const vision = useVision();
const subscriptions = new Subscriptions(vision);

describe('a list that breaks the contract', () => {
  const three = () => [subscriptions.chunk(2), subscriptions.chunk(2.1), subscriptions.chunk(2.2)];

  test.each<[string, (chunks: Element[], page: number) => unknown]>([
    ['items under another name', (items) => ({ items })],
    ['totals that are too low', (chunks, page) => listOf(chunks, page, { totalItems: 1, totalPages: 1 })],
    ['totals that are too high', (chunks, page) => listOf(chunks, page, { totalItems: 250, totalPages: 3 })],
    [
      'an element without a start, and one without a link',
      ([first, ...others]) => ({
        recordings: [{ ...first, startTime: undefined }, first, ...others, { ...first, downloadUrl: undefined }],
      }),
    ],
  ])('with %s: every readable recording is stored', async (_, data) => {
    const chunks = three();
    vision.partner.on(CONTINUOUS, (response, request) => {
      const page = Number(request.query.get('page'));
      json({ success: true, data: data(chunks, page) })(response, request);
    });
    await subscriptions.reachesNow(await subscriptions.follow(await vision.connect()));
    await eventually(async () =>
      expect((await subscriptions.recordings()).map(({ status }) => status)).toEqual(['stored', 'stored', 'stored']),
    );
  });

  test.each([404, 400])('without totals, and with %i past the end, which is reported', async (status) => {
    const chunks = three();
    const past = refuses(status, 'NOT_FOUND', 'Invalid page.');
    const all = json({ success: true, data: { recordings: chunks } });
    vision.partner.on(CONTINUOUS, (response, request) =>
      (request.query.get('page') === '1' ? all : past)(response, request),
    );
    await subscriptions.reachesNow(await subscriptions.follow(await vision.connect()));
    expect(await subscriptions.recordings()).toHaveLength(3);
    const { body } = await vision.app.admin<{ data: object[] }>(
      'GET',
      `/vision-findings?connectionId=${vision.connectionId}`,
    );
    expect(body.data).toMatchObject([{ path: 'page', reason: expect.stringContaining(`status ${status}`) }]);
  });

  test('without totals, and with new ids in each list', async () => {
    const chunks = three();
    let listing = 0;
    vision.partner.on(CONTINUOUS, (response, request) => {
      listing++;
      const renamed = chunks.map((item, i) => ({ ...item, id: `listing-${listing}-${i}` }));
      json({ success: true, data: { recordings: request.query.get('page') === '1' ? renamed : [] } })(
        response,
        request,
      );
    });
    await subscriptions.reachesNow(await subscriptions.follow(await vision.connect()));
    expect(await subscriptions.recordings()).toHaveLength(3);
  });

  const listOf = (chunks: Element[], page: number, totals: object) => ({
    recordings: page === 1 ? chunks : [],
    pagination: { page, pageSize: 100, ...totals },
  });
});

describe('a recording that is listed again', () => {
  let following = '';
  const readTwice = async (chunks: Element[]) => {
    vision.listRecordings(() => chunks);
    following = await subscriptions.follow(await vision.connect());
    await subscriptions.reachesNow(following);
    return readOnceMore();
  };
  const readOnceMore = async () => {
    await subscriptions.readAgain(following);
    return subscriptions.recordings();
  };

  test('is another one for another camera, with its own file', async () => {
    const [front, rear] = [sampleVideo(200), sampleVideo(300)];
    const one = subscriptions.chunk(2, { id: 'shared', downloadUrl: vision.partner.link(front) });
    const other = { ...one, cameraId: 'rear', downloadUrl: vision.partner.link(rear) };
    await readTwice([one, other]);
    await eventually(async () =>
      expect((await subscriptions.recordings()).map(({ status }) => status)).toEqual(['stored', 'stored']),
    );
    const sums = (await subscriptions.recordings()).map(({ cameraId, sha256: sum }) => `${cameraId} ${sum}`).sort();
    expect(sums).toEqual([`front ${sha256(front)}`, `rear ${sha256(rear)}`]);
  });

  test('does not replace a waiting one with the same id and another camera', async () => {
    const busy = vision.partner.link(sampleVideo(), (_, res) => res.writeHead(503, { 'Retry-After': '600' }).end());
    const chunks = [subscriptions.chunk(2, { id: 'shared', downloadUrl: busy })];
    await readTwice(chunks);
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([{ status: 'available' }]));
    const rear = sampleVideo(300);
    chunks.push({ ...chunks[0], cameraId: 'rear', downloadUrl: vision.partner.link(rear) });
    await readOnceMore();
    await eventually(async () => {
      const found = (await subscriptions.recordings()).sort((a, b) => (a.cameraId < b.cameraId ? -1 : 1));
      expect(found).toMatchObject([
        { cameraId: 'front', status: 'available' },
        { cameraId: 'rear', status: 'stored', sha256: sha256(rear) },
      ]);
    });
  });

  test('is another one under a camera name that nobody has declared to be the same', async () => {
    const one = subscriptions.chunk(2, { id: 'two names' });
    expect(await readTwice([one])).toHaveLength(1);
    vision.listRecordings(() => [{ ...one, cameraId: '1' }]);
    expect(await readOnceMore()).toHaveLength(2);
  });

  test('takes the new range if its end moves before it was fetched', async () => {
    const chunks = [
      subscriptions.chunk(2, {
        id: 'grows',
        downloadUrl: vision.partner.link(sampleVideo(), (_, res) => res.writeHead(503).end()),
      }),
    ];
    await readTwice(chunks);
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([{ status: 'available' }]));
    const endTime = inHours(-1.8);
    chunks[0] = { ...chunks[0], endTime, durationSeconds: 720, downloadUrl: vision.partner.link(sampleVideo()) };
    await eventually(async () => {
      await vision.hurry();
      expect(await subscriptions.recordings()).toMatchObject([{ status: 'stored', endTime, durationSeconds: 720 }]);
    });
  });

  test('is fetched again if its end moves after it was fetched, and the coverage is complete', async () => {
    const chunks = [subscriptions.chunk(2, { id: 'grows' })];
    await readTwice(chunks);
    await eventually(async () => expect(await subscriptions.recordings()).toMatchObject([{ status: 'stored' }]));
    const [startTime, endTime] = [String(chunks[0]?.['startTime']), inHours(-1.8)];
    chunks[0] = { ...chunks[0], endTime, downloadUrl: vision.partner.link(sampleVideo()) };
    await eventually(async () => {
      await vision.hurry();
      expect((await subscriptions.recordings()).map(({ status }) => status)).toEqual(['stored', 'stored']);
    });
    const covered = await subscriptions.coverage(startTime, endTime);
    expect(new Set(covered.map(({ state }) => state))).toEqual(new Set(['stored']));
    // An older list changes nothing.
    chunks[0] = { ...chunks[0], endTime: inHours(-1.95) };
    expect(await readOnceMore()).toHaveLength(2);
  });

  test('is stored once for two subscriptions', async () => {
    const one = subscriptions.chunk(2);
    vision.listRecordings(() => [one]);
    const connectionId = await vision.connect();
    const ids = [
      await subscriptions.follow(connectionId),
      await subscriptions.follow(connectionId, { cameraId: 'front' }),
    ];
    for (const id of ids) await subscriptions.reachesNow(id);
    expect(await subscriptions.recordings()).toHaveLength(1);
  });
});
