import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { migrate } from '../../../src/core/database/migrate.js';
import { MIGRATIONS } from '../../../src/core/database/migrations.js';
import { loadRelease } from '../../support/released-database.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

const NAMES = MIGRATIONS.map(({ name }) => name);

/** Migrations of builds between 0.2.0 and the next release that were joined with later ones. */
const JOINED = ['CreateErasures1795670001000', 'SumCoverageByDay1795680000000', 'DropOldRecordings1795700000000'];

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
});
afterEach(() => database.drop());

const rows = <T extends object>(sql: string): Promise<T[]> =>
  onServer(database.url, async (client) => (await client.query<T>(sql)).rows);

describe('the database of 0.2.0', () => {
  beforeEach(() => loadRelease(database.url, '0.2.0'));

  test('is upgraded by the migrations after those that it has', async () => {
    const own = (await rows<{ name: string }>('SELECT name FROM migrations')).map(({ name }) => name);
    expect(own).toHaveLength(39);
    expect(await migrate(database.url)).toEqual(NAMES.slice(1));
    expect(await migrate(database.url)).toEqual([]);
    // Nothing of what 0.2.0 recorded is lost.
    expect((await rows<{ name: string }>('SELECT name FROM migrations')).map(({ name }) => name)).toEqual(
      expect.arrayContaining(own),
    );
  });

  test('keeps its rows', async () => {
    const tables = [
      'haulers',
      'api_keys',
      'connections',
      'tickets',
      'ticket_revisions',
      'accounts',
      'sites',
      'kiosks',
      'materials',
    ]
      .concat([
        'video_requests',
        'video_request_parts',
        'recordings',
        'exchanges',
        'actions',
        'reference_recordings',
        'reference_clips',
      ])
      .map((table) => `SELECT '${table}' AS name, count(*)::int AS rows FROM ${table}`);
    const count = () => rows(tables.join(' UNION ALL '));
    const before = await count();
    expect(before.filter((table) => 'rows' in table && table.rows === 0)).toEqual([]);
    await migrate(database.url);
    expect(await count()).toEqual(before);
  });

  test('gets what the new version reads: months, days of coverage, cameras, parents of materials, the hosted answer', async () => {
    const parents = await rows<{ site: string }>('SELECT site_external_id AS site FROM materials ORDER BY id');
    const videos = await rows<{ day: string }>(
      "SELECT DISTINCT camera_id, (start_time AT TIME ZONE 'UTC')::date::text AS day FROM recordings ORDER BY 1, 2",
    );
    await migrate(database.url);
    expect(await rows('SELECT site_ids[1] AS site FROM materials ORDER BY id')).toEqual(parents);
    expect(await rows('SELECT camera_id, day::text FROM coverage_days WHERE stored IS NULL ORDER BY 1, 2')).toEqual(
      videos,
    );
    expect(await rows('SELECT DISTINCT name FROM cameras WHERE first_at IS NOT NULL ORDER BY 1')).toEqual(
      [...new Set(videos.map((video) => ('camera_id' in video ? video.camera_id : '')))].map((name) => ({ name })),
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

  test('is also upgraded where pg_trgm was missing when 0.2.0 was installed', async () => {
    await onServer(database.url, (client) =>
      client.query(`DROP EXTENSION pg_trgm CASCADE;
        CREATE INDEX accounts_prefix_idx ON public.accounts (left(search_text, 200) text_pattern_ops, id)`),
    );
    await migrate(database.url);
    expect(
      await rows("SELECT indexname AS name FROM pg_indexes WHERE indexname ~ '^accounts_(search|prefix)'"),
    ).toEqual([{ name: 'accounts_search_idx' }]);
  });
});

test('a database of a build with every migration of before, one by one, has nothing to do', async () => {
  await loadRelease(database.url, '0.2.0');
  await migrate(database.url);
  await onServer(database.url, (client) =>
    client.query(
      'INSERT INTO migrations (timestamp, name) SELECT right(name, 13)::bigint, name FROM unnest($1::text[]) AS name',
      [JOINED],
    ),
  );
  expect(await migrate(database.url)).toEqual([]);
});

test.each([
  ['of a build before 0.2.0', ['CreateHaulers1763600000000']],
  ['of a build between, with a part of what was joined', ['CountRequests1795570540000', 'CreateErasures1795670001000']],
])('a database %s is refused, and nothing is written', async (_, names) => {
  await onServer(database.url, (client) =>
    client.query(
      `CREATE TABLE migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL);
       CREATE TABLE haulers (id uuid PRIMARY KEY)`,
    ),
  );
  await onServer(database.url, (client) =>
    client.query(
      'INSERT INTO migrations (timestamp, name) SELECT right(name, 13)::bigint, name FROM unnest($1::text[]) AS name',
      [names],
    ),
  );
  await expect(migrate(database.url)).rejects.toThrow(`(${names.at(-1)}), of a version that left no record`);
  expect(await rows('SELECT name FROM migrations')).toEqual(names.map((name) => ({ name })));
});
