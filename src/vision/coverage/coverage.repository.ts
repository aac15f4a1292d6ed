import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { CoverageQuery } from '../../contracts/admin/recording.dto.js';
import type { RecordingState } from '../recordings/recording.rules.js';

export interface CoverageRecordingRow {
  readonly id: string;
  readonly camera_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RecordingState;
  readonly reason: string | null;
}

export interface CoverageSubscriptionRow {
  /** Null: every camera of the truck. */
  readonly camera_id: string | null;
  readonly start_time: Date;
  readonly read_until: Date;
  readonly last_error: string | null;
  /** The connection was deleted. */
  readonly is_ended: boolean;
  readonly unread: readonly { readonly start: string; readonly end: string; readonly reason: string }[];
}

/** Reads what coverage is computed from. */
@Injectable()
export class CoverageRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** At most `limit` recordings of the truck that overlap the time. `cameras` null: of all cameras. */
  recordings(
    { connectionId, truckId, from, to }: CoverageQuery,
    cameras: readonly string[] | null,
    limit: number,
  ): Promise<CoverageRecordingRow[]> {
    return this.dataSource.query(
      `SELECT id, camera_id, start_time, end_time, status, coalesce(reason, last_error) AS reason FROM recordings
       WHERE connection_id = $1 AND truck_id = $2 AND start_time < $4 AND end_time > $3
         AND start_time > $3::timestamptz - interval '31 days' AND ($5::text[] IS NULL OR camera_id = ANY($5))
       LIMIT ${limit}`,
      [connectionId, truckId, from, to, cameras],
    );
  }

  subscriptions(
    { connectionId, truckId }: CoverageQuery,
    cameras: readonly string[] | null,
  ): Promise<CoverageSubscriptionRow[]> {
    return this.dataSource.query(
      `SELECT camera_id, start_time, read_until, last_error, coalesce((
         SELECT json_agg(json_build_object('start', w.start_time, 'end', w.end_time,
           'reason', coalesce(w.last_error, w.reason, '')))
         FROM video_windows w WHERE w.subscription_id = s.id), '[]') AS unread, NOT EXISTS (
           SELECT 1 FROM connections c
           WHERE (c.hauler_id, c.id) = (s.hauler_id, s.connection_id) AND c.deleted_at IS NULL) AS is_ended
       FROM video_subscriptions s
       WHERE connection_id = $1 AND truck_id = $2 AND deleted_at IS NULL
         AND ($3::text[] IS NULL OR camera_id IS NULL OR camera_id = ANY($3))`,
      [connectionId, truckId, cameras],
    );
  }
}
