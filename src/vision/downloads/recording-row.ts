import type { RecordingState } from './recording-states.js';

/** The kind of work, for `wake`. */
export const DOWNLOADS = 'vision downloads';

/** A recording as its download needs it. */
export interface RecordingRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly connection_id: string;
  readonly part_id: string | null;
  readonly partner_recording_id: string;
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

/** So that a claim hands over, besides the key, all that its download needs. */
export const RECORDING_COLUMNS: readonly (keyof RecordingRow)[] = [
  'connection_id',
  'part_id',
  'partner_recording_id',
  'truck_id',
  'camera_id',
  'start_time',
  'end_time',
  'status',
  'link',
  'expires_at',
  'relinks',
  'received_bytes',
  'fruitless',
  'created_at',
];
