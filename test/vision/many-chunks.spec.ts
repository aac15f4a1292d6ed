import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EntityManager } from 'typeorm';
import { Recording } from '../../src/contracts/vision/vision.dto.js';
import { inTransaction } from '../../src/database/transaction.js';
import { readList } from '../../src/vision/client/read-list.rules.js';
import type { VisionConnection } from '../../src/vision/client/vision-connections.service.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { connectVision, element, type Element, inHours } from '../support/vision-partner.js';
import { RecordingsRepository } from '../../src/vision/recordings/recordings.repository.js';

const CHUNKS = 1_000;
const expiresAt = inHours(8);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { SIDES: new Set(['partner']) } });
  // Nothing tells of the table until a test does.
  await app.dataSource.query('ALTER TABLE recordings SET (autovacuum_enabled = false)');
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

/** Rows that this session has read of the table, whichever way, and has not reported yet: none of them in a transaction. */
async function rowsRead(manager: EntityManager): Promise<number> {
  const [row] = await manager.query<[{ rows: number }]>(
    `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS rows FROM pg_stat_xact_user_tables
     WHERE relname = 'recordings'`,
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
])('chunks that are listed again are looked up each by itself, %s', async (_, first) => {
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

describe('a chunk that is listed again', () => {
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
  const LEASED = "lease_token = gen_random_uuid(), leased_until = now() + interval '1 hour'";

  /** The rows after both listings, between which those of the first one are changed; and how many are to be fetched anew. */
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
    const rows = await app.dataSource.query<{ told: string }[]>(
      `SELECT concat_ws(' ', partner_recording_id, to_char(start_time AT TIME ZONE 'UTC', 'HH24:MI:SS'),
         to_char(end_time AT TIME ZONE 'UTC', 'HH24:MI:SS'), status, substr(link, 23),
         CASE WHEN due_at > now() THEN 'later' END) AS told FROM recordings WHERE connection_id = $1 ORDER BY 1`,
      [connection.id],
    );
    return { added, rows: rows.map(({ told }) => told) };
  }

  test.each<[string, Element, string, Element, number, string[]]>([
    [
      'while it waits takes the link that lives longer, and waits on',
      listed(five),
      "due_at = now() + interval '1 hour' WHERE true",
      listed(five, longer),
      1,
      ['a 08:00:00 08:05:00 available new later'],
    ],
    [
      'with a link that ends sooner keeps its own',
      listed(five),
      'relinks = 0 WHERE true',
      listed(five, { ...longer, expiresAt: inHours(7) }),
      0,
      ['a 08:00:00 08:05:00 available old'],
    ],
    [
      'while it is fetched keeps its link',
      listed(five),
      `${LEASED} WHERE true`,
      listed(five, longer),
      0,
      ['a 08:00:00 08:05:00 available old'],
    ],
    [
      'after it expired is fetched after all',
      listed(five),
      "status = 'expired', due_at = now() + interval '1 hour' WHERE true",
      listed(five, longer),
      1,
      ['a 08:00:00 08:05:00 available new'],
    ],
    [
      'with a link that is dead stays expired',
      listed(five),
      "status = 'expired', due_at = NULL WHERE true",
      listed(five, { ...longer, expiresAt: inHours(-1) }),
      0,
      ['a 08:00:00 08:05:00 expired old'],
    ],
    [
      'after its file was deleted stays expired',
      listed(five),
      "status = 'expired', due_at = NULL, deleted_at = now() WHERE true",
      listed(five, longer),
      0,
      ['a 08:00:00 08:05:00 expired old'],
    ],
    [
      'with less than a second more at either end is the same one',
      listed(five),
      "status = 'stored', due_at = NULL WHERE true",
      listed(['07:59:59.100', '08:05:00.900'], longer),
      0,
      ['a 08:00:00 08:05:00 stored old'],
    ],
    [
      'with more than that is fetched again',
      listed(five),
      "status = 'stored', due_at = NULL WHERE true",
      listed(['08:00:00', '08:05:02'], longer),
      1,
      ['a 08:00:00 08:05:00 stored old', 'a 08:00:00 08:05:02 available new'],
    ],
    [
      'at another time under its id is another one',
      listed(five),
      'relinks = 0 WHERE true',
      listed(['08:05:00', '08:10:00'], longer),
      1,
      ['a 08:00:00 08:05:00 available old', 'a 08:05:00 08:10:00 available new'],
    ],
    [
      'with the range of a clip is a chunk beside it',
      listed(five),
      `${CLIP} WHERE true`,
      listed(five, { ...longer, id: 'b' }),
      1,
      ['a 08:00:00 08:05:00 available old', 'b 08:00:00 08:05:00 available new'],
    ],
    [
      'with the id of a clip is a chunk beside it',
      listed(five),
      `${CLIP} WHERE true`,
      listed(half, longer),
      1,
      ['a 08:00:00 08:05:00 available old', 'a 08:02:30 08:07:30 available new'],
    ],
  ])('%s', async (_, first, change, second, added, rows) => {
    expect(await after([first], [change], [second])).toEqual({ added, rows });
  });

  test('is the one of its range rather than the one of its id', async () => {
    const changes = [
      "status = 'stored', due_at = NULL WHERE partner_recording_id = 'a'",
      "status = 'expired', due_at = NULL WHERE partner_recording_id = 'b'",
    ];
    expect(await after([listed(five), listed(half, { id: 'b' })], changes, [listed(half, longer)])).toEqual({
      added: 1,
      rows: ['a 08:00:00 08:05:00 stored old', 'b 08:02:30 08:07:30 available new'],
    });
  });

  test('is the one of its camera among dozens under its id, also where its times are reckoned anew', async () => {
    const cameras = Array.from({ length: 30 }, (_, n) => ({ cameraId: `camera ${n}` }));
    const chunks = cameras.map((camera) => listed(five, camera));
    const anew = cameras.map((camera) => listed(['08:00:00.300', '08:05:00.300'], camera));
    const stored = "status = 'stored', due_at = NULL WHERE true";
    expect((await after(chunks, [stored], anew)).added).toBe(0);
    expect((await after(chunks, [stored], anew.toReversed())).added).toBe(0);
  });
});
