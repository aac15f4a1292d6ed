import { randomUUID, createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { StorageCheck, StorageRepair } from '../../src/contracts/admin/storage.dto.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Of what one transaction deletes. */
const BATCH = 1_000;
/** In the order of their deletion: the process is killed in that of T2. */
const TRUCKS = { T1: BATCH, T2: BATCH, T3: 10, YOUNG: 5 } as const;
type Truck = keyof typeof TRUCKS;
const FILE = sampleVideo(1_000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');
const ENV = { VIDEO_RETENTION_DAYS: '30' };

let database: TestDatabase;
let db: DataSource;
let service: BuiltService | undefined;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await database.connect(4);
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await database.drop();
});

/** Recordings of a minute each with their files; those of one truck after those of another. */
async function insertRecordings(haulerId: string, connectionId: string, dataDir: string): Promise<string[]> {
  const trucks = (Object.keys(TRUCKS) as Truck[]).flatMap((truck) => new Array<Truck>(TRUCKS[truck]).fill(truck));
  const ids = trucks.map(() => uuidv7());
  for (const id of ids) {
    const path = join(dataDir, 'videos', recordingFile(id));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, FILE);
  }
  await db.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at, size_bytes, sha256, stored_at)
     SELECT $1, id, $2, 'continuous', 'partner-' || id, 'customer', truck, 'front', starts, starts + interval '1 minute', 60, 'stored',
       now(), now(), now(), $5, $6, now() - CASE truck WHEN 'YOUNG' THEN 1 ELSE 31 END * interval '1 day'
     FROM unnest($3::uuid[], $4::text[]) WITH ORDINALITY AS r (id, truck, n),
       LATERAL (SELECT now() - interval '35 days' + n * interval '1 minute' AS starts) AS at`,
    [haulerId, connectionId, ids, trucks, FILE.length, SHA256],
  );
  return ids;
}

test('a retention whose process is killed between files and commit goes on after a restart, and no recording is stored without its file', async () => {
  service = await startService({ databaseUrl: database.url, env: ENV });
  const { dataDir } = service;
  const call = async <T>(method: string, path: string, body?: object) =>
    (await service!.admin<T>(method, path, body)).body;
  const haulerId = randomUUID();
  await call('POST', '/haulers', { id: haulerId, name: 'Killed Hauling' });
  await call('PUT', `/haulers/${haulerId}/retention`, { onDemandDays: null, continuousDays: null });
  const { id: connectionId } = await call<{ id: string }>('POST', '/connections', {
    ...{ haulerId, interface: 'vision', baseUrl: 'https://partner.invalid', apiKey: 'key', enabled: false },
  });
  const ids = await insertRecordings(haulerId, connectionId, dataDir);
  expect((await call<StorageRepair>('POST', '/doctor/repair')).sumsCorrected).toBeGreaterThanOrEqual(4);
  const files = (truck: Truck) => {
    const first = (Object.keys(TRUCKS) as Truck[]).slice(0, Object.keys(TRUCKS).indexOf(truck));
    const from = first.reduce((sum, before) => sum + TRUCKS[before], 0);
    const own = ids.slice(from, from + TRUCKS[truck]);
    return own.filter((id) => existsSync(join(dataDir, 'videos', recordingFile(id)))).length;
  };
  const states = async () => {
    const rows = await db.query<{ truck: string; status: string; n: number }[]>(
      `SELECT truck_id AS truck, status, count(*)::int AS n FROM recordings GROUP BY 1, 2 ORDER BY 1, 2`,
    );
    return rows.map(({ truck, status, n }) => `${truck} ${status} ${n}`);
  };
  const { T1, T2, T3, YOUNG } = TRUCKS;

  // The files of T2 are deleted, and the sums of its day wait for this lock.
  const runner = db.createQueryRunner();
  await runner.startTransaction();
  await runner.query("SELECT FROM coverage_days WHERE truck_id = 'T2' FOR UPDATE");
  await db.query('UPDATE hauler_retention SET continuous_days = 30 WHERE hauler_id = $1', [haulerId]);
  const run = call('POST', '/retention').catch((error: unknown) => error);
  await eventually(() => expect([files('T1'), files('T2')]).toEqual([0, 0]), 60_000);
  expect(await service.end('SIGKILL')).toBe('SIGKILL');
  await run;
  await runner.rollbackTransaction();
  await runner.release();
  expect([files('T3'), files('YOUNG')]).toEqual([T3, YOUNG]);
  expect(await states()).toEqual([`T1 expired ${T1}`, `T2 stored ${T2}`, `T3 stored ${T3}`, `YOUNG stored ${YOUNG}`]);

  service = await startService({ databaseUrl: database.url, dataDir, env: ENV });
  await eventually(
    async () =>
      expect(await states()).toEqual([
        ...[`T1 expired ${T1}`, `T2 expired ${T2}`, `T3 expired ${T3}`],
        `YOUNG stored ${YOUNG}`,
      ]),
    60_000,
  );
  expect([files('T3'), files('YOUNG')]).toEqual([0, YOUNG]);
  const { data: stored } = await call<{ data: { id: string }[] }>('GET', '/recordings?status=stored');
  expect(stored.map(({ id }) => id).sort()).toEqual(ids.slice(-YOUNG).sort());
  expect(await call('GET', `/recordings/${ids[T1]}`)).toMatchObject({
    status: 'expired',
    reasonCode: 'fileRemoved',
    reason: expect.stringMatching(/^The file was deleted 30 days after it was stored/),
  });
  const { data, sums } = await call<StorageCheck>('GET', '/doctor');
  expect([data, sums]).toEqual([[], []]);
}, 180_000);
