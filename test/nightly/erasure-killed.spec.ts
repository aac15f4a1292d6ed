import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { Erasure } from '../../src/contracts/admin/erasure.dto.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { sampleVideo } from '../support/sample-video.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const RECORDINGS = 30;
/** The recording at which the process is killed, in the order of their start. */
const AT = 12;
const FILE = sampleVideo(1_000);
const RANGE = { from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };

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

async function insertRecordings(haulerId: string, connectionId: string, dataDir: string): Promise<string[]> {
  const ids = Array.from({ length: RECORDINGS }, () => uuidv7());
  for (const id of ids) {
    const path = join(dataDir, 'videos', recordingFile(id));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, FILE);
  }
  await db.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at, size_bytes, sha256, stored_at)
     SELECT $1, id, $2, 'continuous', 'partner-' || id, 'customer', 'TRUCK-7', 'front', $4::timestamptz + n * interval '1 minute',
       $4::timestamptz + (n + 1) * interval '1 minute', 60, 'stored', now(), now(), now(), $5, repeat('0', 64), now()
     FROM unnest($3::uuid[]) WITH ORDINALITY AS r (id, n)`,
    [haulerId, connectionId, ids, RANGE.from, FILE.length],
  );
  await db.query(
    `INSERT INTO webhook_deliveries (id, endpoint_id, hauler_id, topic, data, status, due_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $1, 'recording.failed', json_build_object('recordingId', id), 'delivered', NULL
     FROM unnest($2::uuid[]) AS id`,
    [haulerId, ids],
  );
  return ids;
}

/** Locks rows until it is called. */
async function locked(sql: string, id: string): Promise<() => Promise<void>> {
  const runner = db.createQueryRunner();
  await runner.startTransaction();
  await runner.query(sql, [id]);
  return async () => {
    await runner.rollbackTransaction();
    await runner.release();
  };
}

test('an erasure whose process is killed between a file and its count goes on, and counts nothing twice', async () => {
  service = await startService({ databaseUrl: database.url });
  const { dataDir } = service;
  const created = async <T>(path: string, body: object) => (await service!.admin<T>('POST', path, body)).body;
  const haulerId = randomUUID();
  await created('/haulers', { id: haulerId, name: 'Erased Hauling' });
  const { id: connectionId } = await created<{ id: string }>('/connections', {
    ...{ haulerId, interface: 'vision', baseUrl: 'https://partner.invalid', apiKey: 'key', enabled: false },
  });
  const ids = await insertRecordings(haulerId, connectionId, dataDir);
  const hasFile = (id: string) => existsSync(join(dataDir, 'videos', recordingFile(id)));
  const target = { connectionId, truckId: 'TRUCK-7', ...RANGE };
  const { id, confirmationCode } = await created<Erasure>('/erasures', target);
  const receipt = async () => (await service!.admin<Erasure>('GET', `/erasures/${id}`)).body;

  const atRecording = await locked('SELECT FROM recordings WHERE id = $1 FOR UPDATE', ids[AT] ?? '');
  await created(`/erasures/${id}/confirm`, { confirmationCode });
  await eventually(async () => expect((await receipt()).erased.recordings).toBe(AT));
  // The file is deleted, and its count waits for this lock.
  const atCount = await locked('SELECT FROM erasures WHERE id = $1 FOR UPDATE', id);
  await atRecording();
  await eventually(() => expect(hasFile(ids[AT] ?? '')).toBe(false));
  expect(await service.end('SIGKILL')).toBe('SIGKILL');
  await atCount();

  // As the time would in which a killed process renews no lane.
  await db.query('UPDATE lanes SET owned_until = now()');
  service = await startService({ databaseUrl: database.url, dataDir });
  await eventually(async () => expect((await receipt()).status).not.toBe('running'), 90_000);
  const done = await receipt();
  expect(done).toMatchObject({
    status: 'done',
    erased: { recordings: RECORDINGS, bytes: RECORDINGS * FILE.length, deliveries: RECORDINGS },
  });
  expect(done.erased).toEqual(done.preview);
  expect(ids.filter(hasFile)).toEqual([]);
  expect(await db.query('SELECT id FROM recordings')).toEqual([]);
}, 180_000);
