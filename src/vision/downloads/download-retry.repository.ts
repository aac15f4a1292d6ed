import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { RetryRecordings } from '../../contracts/admin/recording-retry.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import { reopenPart, reopenRequest } from '../clips/reopen.repository.js';

interface Revived {
  readonly hauler_id: string;
  readonly part_id: string | null;
}

/** The partner is listed again for a new link. `relinks` is 1, so that no listing of before is used. */
const REVIVED = `status = 'available', due_at = now(), fetch_by = now(), attempts = 0, relinks = 1, received_bytes = 0,
  tried_since = now(), reason_code = NULL, link = NULL, updated_at = now()`;

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
      const [revived] = await manager.query<[Revived[], number]>(
        `UPDATE recordings SET ${REVIVED}, last_error = NULL
         WHERE id = $1 AND status IN ('failed', 'expired') AND deleted_at IS NULL
         RETURNING hauler_id, part_id`,
        [id],
      );
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
    const [, count] = await this.dataSource.query<[unknown[], number]>(
      `UPDATE recordings SET ${REVIVED}, reason = NULL, last_error = 'The file is gone from the video storage.' WHERE id = $1 AND status = 'stored'`,
      [id],
    );
    return count > 0;
  }

  /** Returns how many recordings of the filter failed or expired, which are fetched again. */
  async retryAll({ connectionId, truckId, from, to, reason }: RetryRecordings): Promise<number> {
    return inTransaction(this.dataSource, async (manager) => {
      const [revived, count] = await manager.query<[Revived[], number]>(
        `UPDATE recordings SET ${REVIVED}, last_error = NULL
         WHERE connection_id = $1 AND hauler_id = (SELECT hauler_id FROM connections WHERE id = $1)
           AND status IN ('failed', 'expired') AND deleted_at IS NULL
           AND ($2::text IS NULL OR truck_id = $2)
           AND ($3::timestamptz IS NULL OR start_time >= $3) AND ($4::timestamptz IS NULL OR start_time < $4)
           AND ($5::text IS NULL OR reason_code = $5)
         RETURNING hauler_id, part_id`,
        [connectionId, truckId ?? null, from ?? null, to ?? null, reason ?? null],
      );
      await this.reopen(manager, revived);
      return count;
    });
  }

  /** Returns whether parts of the request are open now: none where all are stored, or were deleted by retention. */
  async retryRequest(haulerId: string, requestId: string, deadlineMs: number): Promise<boolean> {
    return inTransaction(this.dataSource, async (manager) => {
      const [revived] = await manager.query<[Revived[], number]>(
        `UPDATE recordings SET ${REVIVED}, last_error = NULL
         WHERE hauler_id = $1 AND status IN ('failed', 'expired') AND deleted_at IS NULL
           AND part_id IN (SELECT id FROM video_request_parts WHERE hauler_id = $1 AND request_id = $2)
         RETURNING hauler_id, part_id`,
        [haulerId, requestId],
      );
      const parts = new Set(revived.flatMap(({ part_id: id }) => id ?? []));
      return (await reopenRequest(this.parts, manager, { haulerId, requestId, revived: parts, deadlineMs })) > 0;
    });
  }

  /** The parts of revived clips, and their requests, are open again. */
  private async reopen(manager: EntityManager, revived: readonly Revived[]): Promise<void> {
    const parts = new Map(revived.flatMap((row) => (row.part_id === null ? [] : [[row.part_id, row.hauler_id]])));
    for (const [partId, haulerId] of parts) await reopenPart(this.parts, manager, { haulerId, id: partId });
  }
}
