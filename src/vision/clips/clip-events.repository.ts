import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { MAX_HISTORY } from '../../contracts/admin/history.dto.js';
import { uuidv7 } from '../../database/uuid.js';
import type { ClipEvent } from './clip-history.rules.js';

export type NewClipEvent = Pick<ClipEvent, 'kind' | 'text'> & {
  readonly haulerId: string;
  readonly partId: string;
  readonly recordingId?: string;
};

/** Longer reasons of partners are cut. */
const MAX_TEXT = 4_000;

/** Records a step of a part, in the transaction of the step. */
export async function recordClipEvent(manager: EntityManager, event: NewClipEvent): Promise<void> {
  await manager.query(
    `INSERT INTO clip_events (hauler_id, request_id, id, part_id, recording_id, kind, text)
     SELECT hauler_id, request_id, $3, id, $4, $5, $6 FROM video_request_parts WHERE hauler_id = $1 AND id = $2`,
    [event.haulerId, event.partId, uuidv7(), event.recordingId ?? null, event.kind, event.text.slice(0, MAX_TEXT)],
  );
}

/** Reads the steps of video requests. */
@Injectable()
export class ClipEventsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first. `part` is the number of the part; null in a request with one part. */
  find(haulerId: string, requestId: string): Promise<ClipEvent[]> {
    return this.dataSource.query(
      `SELECT e.id, e.recording_id AS "recordingId", e.kind, e.text,
         CASE WHEN EXISTS (SELECT 1 FROM video_request_parts other WHERE other.hauler_id = $1 AND other.request_id = $2
           AND other.number = 2) THEN part.number END AS part
       FROM clip_events e JOIN video_request_parts part ON (part.hauler_id, part.id) = (e.hauler_id, e.part_id)
       WHERE e.hauler_id = $1 AND e.request_id = $2 ORDER BY e.id DESC LIMIT ${MAX_HISTORY}`,
      [haulerId, requestId],
    );
  }
}
