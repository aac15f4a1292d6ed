import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '../../../src/core/database/migrate.js';
import { MIGRATIONS } from '../../../src/core/database/migrations.js';
import { loadRelease } from '../../support/released-database.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

const NAMES = MIGRATIONS.map(({ name }) => name);

/** Migrations of builds between 0.2.0 and the next release that were joined with later ones. */
const JOINED = ['CreateErasures1795670001000', 'SumCoverageByDay1795680000000', 'DropOldRecordings1795700000000'];

const COUNTED = [
  ...['haulers', 'api_keys', 'connections', 'tickets', 'ticket_revisions', 'accounts', 'sites', 'kiosks', 'materials'],
  ...['video_requests', 'video_request_parts', 'recordings', 'exchanges', 'actions', 'reference_recordings'],
  'reference_clips',
];

let database: TestDatabase;
const rows = <T extends object>(sql: string): Promise<T[]> =>
  onServer(database.url, async (client) => (await client.query<T>(sql)).rows);
const own = async () => (await rows<{ name: string }>('SELECT name FROM migrations')).map(({ name }) => name);
/** As builds before have recorded them. */
const record = (names: readonly string[]) =>
  onServer(database.url, (client) =>
    client.query(
      'INSERT INTO migrations (timestamp, name) SELECT right(name, 13)::bigint, name FROM unnest($1::text[]) AS name',
      [names],
    ),
  );
const count = () =>
  rows<{ name: string; rows: number }>(
    COUNTED.map((table) => `SELECT '${table}' AS name, count(*)::int AS rows FROM ${table}`).join(' UNION ALL '),
  );

describe('the database of 0.2.0', () => {
  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false });
    await loadRelease(database.url, '0.2.0');
  });
  afterAll(() => database.drop());

  test('is upgraded by the migrations after those that it has, and keeps its rows', async () => {
    const before = { names: await own(), rows: await count() };
    expect(before.names).toHaveLength(39);
    expect(before.rows.filter((table) => table.rows === 0)).toEqual([]);
    const parents = await rows<{ site: string }>('SELECT site_external_id AS site FROM materials ORDER BY id');
    const videos = await rows<{ camera_id: string; day: string }>(
      "SELECT DISTINCT camera_id, (start_time AT TIME ZONE 'UTC')::date::text AS day FROM recordings ORDER BY 1, 2",
    );
    expect(await migrate(database.url)).toEqual(NAMES.slice(1));
    expect(await migrate(database.url)).toEqual([]);
    // Nothing of what 0.2.0 recorded is lost.
    expect(await own()).toEqual(expect.arrayContaining(before.names));
    expect(await count()).toEqual(before.rows);
    // And what the new version reads is there.
    expect(await rows('SELECT site_ids[1] AS site FROM materials ORDER BY id')).toEqual(parents);
    expect(await rows('SELECT camera_id, day::text FROM coverage_days WHERE stored IS NULL ORDER BY 1, 2')).toEqual(
      videos,
    );
    expect(await rows('SELECT DISTINCT name FROM cameras WHERE first_at IS NOT NULL ORDER BY 1')).toEqual(
      [...new Set(videos.map((video) => video.camera_id))].map((name) => ({ name })),
    );
    const [hosted] = await rows<{ body: Buffer; length: number }>(
      `SELECT body, byte_length::int AS length FROM reference_site_data
       WHERE hauler_id = (SELECT hauler_id FROM sites ORDER BY created_at LIMIT 1)`,
    );
    expect(gunzipSync(hosted?.body ?? '').length).toBe(hosted?.length);
    const [partition] = await rows<{ name: string }>(
      'SELECT DISTINCT tableoid::regclass::text AS name FROM recordings',
    );
    expect(partition?.name).toBe('recordings_202611');
  });

  test('has nothing to do as the database of a build with every migration of before, one by one', async () => {
    await record(JOINED);
    expect(await migrate(database.url)).toEqual([]);
  });
});

test('the database of 0.2.0 is also upgraded where pg_trgm was missing when it was installed', async () => {
  database = await createTestDatabase({ migrated: false });
  await loadRelease(database.url, '0.2.0');
  await onServer(database.url, (client) =>
    client.query(`DROP EXTENSION pg_trgm CASCADE;
      CREATE INDEX accounts_prefix_idx ON public.accounts (left(search_text, 200) text_pattern_ops, id)`),
  );
  await migrate(database.url);
  expect(await rows("SELECT indexname AS name FROM pg_indexes WHERE indexname ~ '^accounts_(search|prefix)'")).toEqual([
    { name: 'accounts_search_idx' },
  ]);
  await database.drop();
});

test.each([
  ['of a build before 0.2.0', ['CreateHaulers1763600000000']],
  ['of a build between, with a part of what was joined', ['CountRequests1795570540000', 'CreateErasures1795670001000']],
])('a database %s is refused, and nothing is written', async (_, names) => {
  database = await createTestDatabase({ migrated: false });
  await onServer(database.url, (client) =>
    client.query(
      `CREATE TABLE migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL);
       CREATE TABLE haulers (id uuid PRIMARY KEY)`,
    ),
  );
  await record(names);
  await expect(migrate(database.url)).rejects.toThrow(`(${names.at(-1)}), of a version that left no record`);
  expect(await own()).toEqual(names);
  await database.drop();
});
