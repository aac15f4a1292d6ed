import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { uuidv7 } from '../../src/core/database/uuid.js';
import { STORAGE, type Storage } from '../../src/core/storage/storage.js';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import type { TestApp } from './app.js';
import { addRecordings } from './rows.js';
import { sampleVideo } from './sample-video.js';

/** A hauler with a vision connection whose partner is never called. */
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
  readonly status?: 'stored' | 'available' | 'failed' | 'expired';
  /** How long ago it was stored. */
  readonly storedDays?: number;
  readonly id?: string;
  readonly bytes?: Buffer;
}

const FILE = sampleVideo(1_000);

/** Recordings with their files, as if they had been downloaded. Returns their ids. */
export async function insertFootage(app: TestApp, footage: readonly Footage[]): Promise<string[]> {
  const storage = app.app.get<Storage>(STORAGE, { strict: false });
  const rows = footage.map(({ id = uuidv7(), status = 'stored', storedDays = 0, bytes = FILE, ...each }) => ({
    ...{ truckId: 'TRUCK-7', cameraId: 'front', ...each, id, status, bytes },
    ...(status === 'stored' ? { file: { ...sumsOf(bytes), storedDays } } : {}),
  }));
  for (const { id, status, bytes } of rows) {
    if (status === 'stored') await storage.store(recordingFile(id), Readable.from([bytes]));
  }
  await addRecordings(
    app,
    rows.map(({ bytes: _, ...row }) => row),
  );
  return rows.map(({ id }) => id);
}

const sumsOf = (bytes: Buffer) => ({
  sizeBytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});
