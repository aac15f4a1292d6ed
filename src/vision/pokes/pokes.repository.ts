import type { Sql } from '../../core/database/sql.js';
import { PART, type Part } from '../clips/clips.repository.js';
import type { ConnectionKey } from '../truck.js';

/** The parts to which the partner gave the id, or that belong to our request of this id, ended ones included. */
export function findPokedParts(
  transaction: Sql,
  { haulerId, connectionId }: ConnectionKey,
  requestId: string,
): Promise<Part[]> {
  return transaction.query<Part>(
    `SELECT ${PART} FROM video_request_parts
     WHERE hauler_id = $1 AND connection_id = $2 AND (partner_request_id = $3 OR request_id::text = lower($3))`,
    [haulerId, connectionId, requestId],
  );
}

/** Makes the polls of parts that wait for the partner due, also again after a poll that runs. Returns how many wait. */
export async function pokeParts(transaction: Sql, haulerId: string, ids: readonly string[]): Promise<number> {
  return transaction.change(
    `UPDATE video_request_parts SET next_poll_at = now()
     WHERE hauler_id = $1 AND id = ANY ($2::uuid[]) AND status = 'processing' AND next_poll_at IS NOT NULL`,
    [haulerId, ids],
  );
}

/** A reading begins so long after the one before, so that many pokes are not as many readings. */
const READ_ANEW = "interval '10 seconds'";

/**
 * Makes the readings of a truck due, also again after one that runs; one that waits after a failure keeps its time. Returns how
 * many are due, undefined for an unknown truck. A reading may have begun after this transaction, so they are counted by the clock.
 */
export async function pokeTruck(
  transaction: Sql,
  { haulerId, connectionId }: ConnectionKey,
  truckId: string,
): Promise<number | undefined> {
  const rows = await transaction.query<{ due: boolean }>(
    `UPDATE video_subscriptions SET due_at = CASE
         WHEN enabled AND started_at IS NOT NULL THEN greatest(now(), started_at + ${READ_ANEW})
         WHEN enabled AND last_error IS NULL THEN least(due_at, greatest(now(), last_read_at + ${READ_ANEW}))
         ELSE due_at END
     WHERE hauler_id = $1 AND connection_id = $2 AND truck_id = $3 AND deleted_at IS NULL
     RETURNING enabled AND due_at <= clock_timestamp() + ${READ_ANEW} AS due`,
    [haulerId, connectionId, truckId],
  );
  return rows.length === 0 ? undefined : rows.filter(({ due }) => due).length;
}
