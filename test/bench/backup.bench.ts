import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPartition } from '../../src/database/partitions.repository.js';
import { PARTITIONED, partitionOf } from '../../src/database/partitions.rules.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { peakRssMb, processorMs, ROOT } from './processes.js';
import { report, type Row } from './report.js';

const DAY_MS = 86_400_000;
const PEAK_EVERY_MS = 100;
const KEY = '0123456789abcdef'.repeat(4);
const HAULER = '00000000-0000-4000-8000-000000000001';

/**
 * `backup`, `backup verify` and `restore` by the command line: seconds, processor time, and the peak of memory of the command. Arguments:
 * tickets, as many revisions and recordings (1000000); stored videos (5000) and the bytes of each (1048576). The files of the other
 * recordings were deleted by age.
 */
export async function run([rows = '1000000', videos = '5000', bytes = '1048576']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const storage = join(database.folder, 'videos');
  await seed(database, storage, Number(rows), Number(videos), Number(bytes));
  const { rows: sizes } = await database.client.query<{ mb: number }>(
    'SELECT (pg_database_size(current_database()) / 1e6)::int AS mb',
  );
  console.log(`the database has ${sizes[0]?.mb} MB`);
  await database.client.query('CREATE DATABASE restored');
  const restored = Object.assign(new URL(database.url), { pathname: '/restored' }).href;
  const archive = join(database.folder, 'backup.tar');
  const table: Row[] = [['command', 'seconds', 'processor s', 'peak RSS MB']];
  const step = async (...words: string[]) => {
    const { seconds, processor, peakMb } = await command(database, words);
    table.push([words.filter((word) => !/[/:]/.test(word)).join(' '), seconds, processor, peakMb]);
    console.log(table.at(-1)?.join('  '));
  };
  await step('backup', '--to', archive);
  console.log(`the archive has ${Math.round(statSync(archive).size / 1e6)} MB`);
  await step('backup', 'verify', '--from', archive);
  await step('restore', '--from', archive, '--database', restored, '--videos', `file:${storage}`, '--checksums');
  report('backup', table);
}

/** Prints what the command prints, with its time. */
async function command({ url, folder }: BenchDatabase, words: readonly string[]) {
  const begun = performance.now();
  const child = spawn(process.execPath, ['dist/src/cli/main.js', ...words], {
    cwd: ROOT,
    env: {
      ...{ PATH: process.env['PATH'], NODE_ENV: 'production', SECRETS_KEY: KEY },
      ...{ DATABASE_URL: url, DATA_DIR: folder, STORAGE_URL: `file:${join(folder, 'videos')}` },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seconds = () => (performance.now() - begun) / 1_000;
  for (const stream of [child.stdout, child.stderr])
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => console.log(`${seconds().toFixed(1)} s  ${text.trimEnd()}`));
  let [peakMb, processor] = [0, 0];
  const timer = setInterval(() => {
    try {
      peakMb = peakRssMb(child.pid ?? 0) || peakMb;
      processor = processorMs(child.pid ?? 0) / 1_000;
    } catch {
      // It has ended since.
    }
  }, PEAK_EVERY_MS);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`);
  return { seconds: seconds(), processor, peakMb };
}

async function seed(
  { client }: BenchDatabase,
  storage: string,
  rows: number,
  videos: number,
  bytes: number,
): Promise<void> {
  const begun = performance.now();
  const querying = { query: async <T>(sql: string, values: unknown[]) => (await client.query(sql, values)).rows as T };
  const now = Date.now();
  await client.query('BEGIN');
  for (const table of [PARTITIONED.recordings, PARTITIONED.revisions])
    for (let at = now - (rows * 31_000 + DAY_MS); at < now; at += 27 * DAY_MS) {
      const partition = partitionOf(table, at, now);
      if (partition !== undefined) await createPartition(querying, table, partition);
    }
  await client.query('COMMIT');
  await client.query("SET synchronous_commit = off; SET timezone = 'UTC'");
  await client.query(`INSERT INTO haulers (id, name) VALUES ('${HAULER}', 'Bench')`);
  await client.query(
    `INSERT INTO tickets (id, hauler_id, site_id, materials, custom_fields, inbound_number, inbound_updated_at, revision,
       contents_version, created_at, updated_at)
     SELECT uuidv7(n * interval '-31 s'), '${HAULER}', md5('site' || n % 50)::uuid,
       '[{"id":"019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d","name":"Mixed debris","quantity":12.5,"unitOfMeasure":"Ton"}]',
       '{"truckNumber":"42","driver":"R. Miller"}', 'IN-' || n, at, 1, at, at, at
     FROM generate_series(1, $1::int) AS n, LATERAL (SELECT now() - n * interval '31 s' AS at) AS times`,
    [rows],
  );
  await client.query(
    `INSERT INTO ticket_revisions (hauler_id, ticket_id, revision, received_at, result, body)
     SELECT hauler_id, id, 1, created_at, 'created',
       jsonb_build_object('siteId', site_id, 'inboundFlow', jsonb_build_object('ticketNumber', inbound_number), 'note', repeat('x', 200))
     FROM tickets`,
  );
  const recordings = (from: number, to: number, status: string) =>
    client.query<{ id: string }>(
      `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
         start_time, end_time, duration_seconds, status, fetch_by, size_bytes, sha256, fetch_ms, stored_at, deleted_at, created_at, updated_at)
       SELECT '${HAULER}', uuidv7(n * interval '-31 s'), '${HAULER}', 'continuous', n::text, 'bench', 'TRUCK-' || n % 1000, 'front', at,
         at + interval '1 minute', 60, '${status}', at, ${bytes}, '', 5, at, CASE WHEN '${status}' = 'expired' THEN now() END, at, at
       FROM generate_series($1::int, $2::int) AS n, LATERAL (SELECT now() - n * interval '31 s' AS at) AS times
       ${status === 'stored' ? 'RETURNING id' : ''}`,
      [from, to],
    );
  await recordings(videos + 1, rows, 'expired');
  const { rows: stored } = await recordings(1, videos, 'stored');
  const noise = randomBytes(bytes);
  const sums = stored.map(({ id }) => {
    const path = join(storage, recordingFile(id));
    noise.write(id);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, noise);
    return createHash('sha256').update(noise).digest('hex');
  });
  await client.query(
    `UPDATE recordings r SET sha256 = s.sha256 FROM unnest($1::uuid[], $2::text[]) AS s (id, sha256)
      WHERE r.hauler_id = '${HAULER}' AND r.id = s.id`,
    [stored.map(({ id }) => id), sums],
  );
  await client.query('VACUUM (ANALYZE)');
  console.log(`seeded in ${Math.round((performance.now() - begun) / 1_000)} s`);
}
