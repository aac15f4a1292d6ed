import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { DataSource } from 'typeorm';
import { uuidv7 } from '../../src/database/uuid.js';
import { STORAGE, type Storage } from '../../src/storage/storage.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import { sampleVideo } from './sample-video.js';
import type { TestApp } from './app.js';

/** A hauler with a vision connection whose partner is never called, as rows. */
export async function videoConnection(app: TestApp): Promise<{ haulerId: string; connectionId: string }> {
  const haulerId = randomUUID();
  await app.admin('POST', '/haulers', { id: haulerId, name: `Hauler ${haulerId.slice(0, 8)}` });
  const { body } = await app.admin<{ id: string }>('POST', '/connections', {
    ...{ haulerId, interface: 'vision', baseUrl: 'https://partner.example', apiKey: 'key', enabled: false },
  });
  return { haulerId, connectionId: body.id };
}

export interface Footage {
  readonly haulerId: string;
  readonly connectionId: string;
  readonly truckId?: string;
  readonly cameraId?: string;
  readonly start: string;
  readonly end: string;
  readonly status?: 'stored' | 'available' | 'failed';
  /** How long ago it was stored. */
  readonly storedDays?: number;
  readonly id?: string;
}

const FILE = sampleVideo(1_000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

/** Recordings with their files, as if they had been downloaded. Returns their ids. */
export async function insertFootage(app: TestApp, footage: readonly Footage[]): Promise<string[]> {
  const ids = footage.map(({ id }) => id ?? uuidv7());
  const storage = app.app.get<Storage>(STORAGE, { strict: false });
  for (const [i, { status = 'stored' }] of footage.entries()) {
    if (status === 'stored') await storage.store(recordingFile(ids[i] ?? ''), Readable.from([FILE]));
  }
  await app.dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at, size_bytes, sha256, stored_at)
     SELECT hauler, id, connection, 'continuous', 'partner-' || id, 'customer', truck, camera, starts, ends, 60, status, now(),
       now(), now(), CASE WHEN status = 'stored' THEN 1000 END, CASE WHEN status = 'stored' THEN $10 END,
       CASE WHEN status = 'stored' THEN now() - days * interval '1 day' END
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[],
       $8::text[], $9::float8[]) AS f (hauler, id, connection, truck, camera, starts, ends, status, days)`,
    [
      footage.map(({ haulerId }) => haulerId),
      ids,
      footage.map(({ connectionId }) => connectionId),
      footage.map(({ truckId = 'TRUCK-7' }) => truckId),
      footage.map(({ cameraId = 'front' }) => cameraId),
      footage.map(({ start }) => start),
      footage.map(({ end }) => end),
      footage.map(({ status = 'stored' }) => status),
      footage.map(({ storedDays = 0 }) => storedDays),
      SHA256,
    ],
  );
  return ids;
}

/** Names that the partner returned for requested cameras of TRUCK-7. */
export async function insertNames(
  dataSource: DataSource,
  { haulerId, connectionId }: Pick<Footage, 'haulerId' | 'connectionId'>,
  pairs: readonly { readonly requested: string; readonly returned: string }[],
): Promise<void> {
  await dataSource.query(
    `INSERT INTO partner_camera_names (hauler_id, connection_id, truck_id, requested_name, returned_name)
     SELECT $1, $2, 'TRUCK-7', requested, returned FROM unnest($3::text[], $4::text[]) AS pair (requested, returned)
     ON CONFLICT DO NOTHING`,
    [haulerId, connectionId, pairs.map(({ requested }) => requested), pairs.map(({ returned }) => returned)],
  );
}
