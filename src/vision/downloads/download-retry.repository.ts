import { Injectable } from '@nestjs/common';
import type { RetryRecordings } from '../../contracts/admin/recordings.routes.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import { forgetDays, type RecordedTime } from '../recordings/coverage-days.repository.js';

type Revived = RecordedTime & {
  readonly id: string;
  readonly part_id: string | null;
  /** Its start, as PostgreSQL reads it. */
  readonly place: string;
};

/** Ended without a file, which no retention has deleted. The index `recordings_lost_idx` has these rows alone. */
const IS_LOST = "status IN ('failed', 'expired') AND deleted_at IS NULL";

const BATCH_ROWS = 1_000;
const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** The partner is listed again for a new link. */
const REVIVED = `status = 'available', due_at = now(), fetch_by = now(), attempts = 0, relinks = 0, received_bytes = 0,
  tried_since = now(), reason_code = NULL, link = NULL, updated_at = now()`;
const NO_ERROR = 'last_error = NULL';
const LOST = "reason = NULL, last_error = 'The file is gone from the video storage.'";

/** Makes recordings due again that ended without a file. */
@Injectable()
export class DownloadRetryRepository {
  constructor(
    private readonly database: Database,
    private readonly parts: ClipsRepository,
  ) {}

  /** Returns whether the recording has no file yet. One that waits is tried at once. */
  async retry(id: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const revived = await revive(transaction, `id = $1 AND ${IS_LOST}`, [id]);
      await this.reopen(transaction, revived);
      const open = await transaction.change(
        `UPDATE recordings SET due_at = CASE WHEN started_at IS NULL THEN now() ELSE due_at END
         WHERE id = $1 AND status = 'available' AND deleted_at IS NULL`,
        [id],
      );
      return open > 0;
    });
  }

  /** A stored recording without its file waits again for it. Returns false if it is not stored any more. */
  async refetch(id: string): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      const revived = await revive(transaction, "id = $1 AND status = 'stored'", [id], LOST);
      await forgetDays(transaction, revived);
      return revived.length > 0;
    });
  }

  /** Returns how many recordings of the filter failed or expired, which are fetched again. */
  retryAll({ connectionId, truckId, from, to, reason }: RetryRecordings): Promise<number> {
    return this.reviveLost(
      `connection_id = $1 AND hauler_id = (SELECT hauler_id FROM connections WHERE id = $1)
         AND ($2::text IS NULL OR truck_id = $2) AND ($3::timestamptz IS NULL OR start_time >= $3)
         AND ($4::timestamptz IS NULL OR start_time < $4) AND ($5::text IS NULL OR reason_code = $5)`,
      [connectionId, truckId ?? null, from ?? null, to ?? null, reason ?? null],
    );
  }

  /** Returns whether anything of the request is open now: nothing where all is stored, or was deleted by retention. */
  async retryRequest(haulerId: string, requestId: string, deadlineMs: number): Promise<boolean> {
    const ofRequest =
      'hauler_id = $1 AND part_id IN (SELECT id FROM video_request_parts WHERE hauler_id = $1 AND request_id = $2)';
    // The parts first: a part that waits for its clips can be tried again if they were not revived.
    const open = await this.database.transaction(async (transaction) => {
      const lost = await transaction.query<{ part_id: string }>(
        `SELECT DISTINCT part_id FROM recordings WHERE ${ofRequest} AND ${IS_LOST}`,
        [haulerId, requestId],
      );
      const revived = new Set(lost.map(({ part_id: id }) => id));
      return this.parts.reopenRequest(transaction, { haulerId, requestId, revived, deadlineMs });
    });
    const count = await this.reviveLost(ofRequest, [haulerId, requestId]);
    return open > 0 || count > 0;
  }

  /**
   * In batches with a transaction each, so that no statement takes too long for any number of rows. After a failure the rest is
   * still lost, and another call goes on with it. Returns how many were revived.
   */
  private async reviveLost(condition: string, parameters: readonly unknown[]): Promise<number> {
    const [start, id] = [parameters.length + 1, parameters.length + 2];
    const batch = `${condition} AND ${IS_LOST} AND (start_time, id) > ($${start}::timestamptz, $${id}::uuid)
      ORDER BY start_time, id LIMIT ${BATCH_ROWS}`;
    let count = 0;
    // A recording that is lost again meanwhile is not revived once more.
    let last: Pick<Revived, 'id' | 'place'> | undefined = { place: '-infinity', id: NIL_UUID };
    while (last !== undefined) {
      const { place, id: lastId } = last;
      const revived = await this.database.transaction(async (transaction) => {
        const rows = await revive(transaction, batch, [...parameters, place, lastId]);
        await this.reopen(transaction, rows);
        return rows;
      });
      count += revived.length;
      last = revived[BATCH_ROWS - 1];
    }
    return count;
  }

  /** The parts of revived clips, and their requests, are open again. Their days are last, as a poll locks them. */
  private async reopen(transaction: Sql, revived: readonly Revived[]): Promise<void> {
    const parts = new Map(revived.flatMap((row) => (row.part_id === null ? [] : [[row.part_id, row.hauler_id]])));
    for (const [partId, haulerId] of parts) await this.parts.reopenPart(transaction, haulerId, partId);
    await forgetDays(transaction, revived);
  }
}

/** Fetches the recordings of a condition again, oldest first. */
function revive(
  transaction: Sql,
  condition: string,
  parameters: readonly unknown[],
  set = NO_ERROR,
): Promise<Revived[]> {
  return transaction.query<Revived>(
    `WITH old AS (SELECT hauler_id, id, start_time FROM recordings WHERE ${condition} FOR UPDATE),
       revived AS (
         UPDATE recordings AS r SET ${REVIVED}, ${set} FROM old
         WHERE (r.id, r.hauler_id, r.start_time) = (old.id, old.hauler_id, old.start_time)
         RETURNING r.hauler_id, r.id, r.connection_id, r.truck_id, r.camera_id, r.part_id, r.start_time, r.end_time)
     SELECT *, start_time::text AS place FROM revived ORDER BY start_time, id`,
    [...parameters],
  );
}
