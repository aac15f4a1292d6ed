import { DataSource } from 'typeorm';
import { storageName } from '../../storage/storage-name.js';
import type { RecordingState } from './recording-states.js';

export interface RecordingKey {
  readonly hauler_id: string;
  readonly id: string;
}

/** A recording as its download needs it. */
export interface RecordingRow extends RecordingKey {
  readonly connection_id: string;
  readonly part_id: string | null;
  readonly source: 'on-demand' | 'continuous';
  readonly partner_recording_id: string;
  readonly customer_id: string;
  readonly truck_id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RecordingState;
  /** A secret: links are signed. */
  readonly link: string | null;
  readonly expires_at: Date | null;
  readonly relinks: number;
  /** As text, being a bigint. */
  readonly received_bytes: string;
  readonly fruitless: number;
  readonly created_at: Date;
}

export async function loadRecording(dataSource: DataSource, { hauler_id, id }: RecordingKey): Promise<RecordingRow> {
  const [row] = await dataSource.query<RecordingRow[]>(
    `SELECT hauler_id, id, connection_id, part_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, status, link, expires_at, relinks, received_bytes, fruitless, created_at
     FROM recordings WHERE hauler_id = $1 AND id = $2`,
    [hauler_id, id],
  );
  if (row === undefined) throw new Error(`there is no recording ${id}`);
  return row;
}

/** Where its bytes are. */
export const recordingFile = (id: string): string => storageName('recordings', id);
