import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { RetryRecordings } from '../../contracts/admin/recording.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import { forgetDays, type RecordedTime } from '../recordings/coverage-days.repository.js';
import { reopenPart, reopenRequest } from '../clips/reopen.repository.js';

type Revived = RecordedTime & { readonly part_id: string | null };

/** The partner is listed again for a new link. `relinks` is 1, so that no listing of before is used. */
const REVIVED = `status = 'available', due_at = now(), fetch_by = now(), attempts = 0, relinks = 1, received_bytes = 0,
  tried_since = now(), reason_code = NULL, link = NULL, updated_at = now()`;
const NO_ERROR = 'last_error = NULL';
const LOST = "reason = NULL, last_error = 'The file is gone from the video storage.'";

/** Makes recordings due again that ended without a file. */
@Injectable()
export class DownloadRetryRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: ClipsRepository,
  ) {}

  /** Returns whether the recording has no file yet. One that waits is tried at once. */
  async retry(id: string): Promise<boolean> {
    return inTransaction(this.dataSource, async (manager) => {
      const revived = await revive(manager, "id = $1 AND status IN ('failed', 'expired') AND deleted_at IS NULL", [id]);
      await this.reopen(manager, revived);
      const [, open] = await manager.query<[unknown[], number]>(
        `UPDATE recordings SET due_at = CASE WHEN started_at IS NULL THEN now() ELSE due_at END
         WHERE id = $1 AND status = 'available' AND deleted_at IS NULL`,
        [id],
      );
      return open > 0;
    });
  }

  /** A stored recording without its file waits again for it. Returns false if it is not stored any more. */
  async refetch(id: string): Promise<boolean> {
    return inTransaction(this.dataSource, async (manager) => {
      const revived = await revive(manager, "id = $1 AND status = 'stored'", [id], LOST);
      await forgetDays(manager, revived);
      return revived.length > 0;
    });
  }

  /** Returns how many recordings of the filter failed or expired, which are fetched again. */
  async retryAll({ connectionId, truckId, from, to, reason }: RetryRecordings): Promise<number> {
    return inTransaction(this.dataSource, async (manager) => {
      const revived = await revive(
        manager,
        `connection_id = $1 AND hauler_id = (SELECT hauler_id FROM connections WHERE id = $1)
           AND status IN ('failed', 'expired') AND deleted_at IS NULL AND ($2::text IS NULL OR truck_id = $2)
           AND ($3::timestamptz IS NULL OR start_time >= $3) AND ($4::timestamptz IS NULL OR start_time < $4)
           AND ($5::text IS NULL OR reason_code = $5)`,
        [connectionId, truckId ?? null, from ?? null, to ?? null, reason ?? null],
      );
      await this.reopen(manager, revived);
      return revived.length;
    });
  }

  /** Returns whether parts of the request are open now: none where all are stored, or were deleted by retention. */
  async retryRequest(haulerId: string, requestId: string, deadlineMs: number): Promise<boolean> {
    return inTransaction(this.dataSource, async (manager) => {
      const revived = await revive(
        manager,
        `hauler_id = $1 AND status IN ('failed', 'expired') AND deleted_at IS NULL
           AND part_id IN (SELECT id FROM video_request_parts WHERE hauler_id = $1 AND request_id = $2)`,
        [haulerId, requestId],
      );
      const parts = new Set(revived.flatMap(({ part_id: id }) => id ?? []));
      const open = await reopenRequest(this.parts, manager, { haulerId, requestId, revived: parts, deadlineMs });
      await forgetDays(manager, revived);
      return open > 0;
    });
  }

  /** The parts of revived clips, and their requests, are open again. Their days are last, as a poll locks them. */
  private async reopen(manager: EntityManager, revived: readonly Revived[]): Promise<void> {
    const parts = new Map(revived.flatMap((row) => (row.part_id === null ? [] : [[row.part_id, row.hauler_id]])));
    for (const [partId, haulerId] of parts) await reopenPart(this.parts, manager, { haulerId, id: partId });
    await forgetDays(manager, revived);
  }
}

/** Fetches the recordings of a condition again. */
async function revive(
  manager: EntityManager,
  condition: string,
  parameters: unknown[],
  set = NO_ERROR,
): Promise<Revived[]> {
  const [revived] = await manager.query<[Revived[], number]>(
    `WITH old AS (SELECT hauler_id, id, start_time FROM recordings WHERE ${condition} FOR UPDATE)
     UPDATE recordings AS r SET ${REVIVED}, ${set} FROM old
     WHERE (r.id, r.hauler_id, r.start_time) = (old.id, old.hauler_id, old.start_time)
     RETURNING r.part_id, r.hauler_id, r.connection_id, r.truck_id, r.camera_id, r.start_time, r.end_time`,
    parameters,
  );
  return revived;
}
