import type { EntityManager } from 'typeorm';
import { type ClipsRepository, type Part, PART, PART_BY_KEY } from './clips.repository.js';

interface Reopened extends Pick<Part, 'haulerId' | 'requestId'> {
  /** The ids of the parts whose clips are fetched again. */
  readonly revived: ReadonlySet<string>;
  readonly deadlineMs: number;
}

/** Parts without a file, unless retention has deleted it. */
const OPENABLE = `SELECT ${PART} FROM video_request_parts
  WHERE hauler_id = $1 AND request_id = $2 AND status <> 'stored' AND file_removed_at IS NULL ORDER BY number`;

/** The part waits again for its clips, which are fetched again. */
export async function reopenPart(
  clips: ClipsRepository,
  manager: EntityManager,
  { haulerId, id }: Pick<Part, 'haulerId' | 'id'>,
): Promise<void> {
  const [part] = await manager.query<Part[]>(`${PART_BY_KEY} FOR UPDATE`, [haulerId, id]);
  const hasEnded = part?.status === 'failed' || part?.status === 'expired';
  if (hasEnded) await clips.transition(manager, part, 'ready', null);
}

/**
 * Opens the parts of a request that ended without a file, for another `deadlineMs`: `revived` ones wait for their clips, those
 * that the partner has accepted are polled again, and the others are sent again. Open parts are tried at once. Returns how
 * many parts are open now.
 */
export async function reopenRequest(
  clips: ClipsRepository,
  manager: EntityManager,
  { haulerId, requestId, revived, deadlineMs }: Reopened,
): Promise<number> {
  const key = [haulerId, requestId];
  const [first] = await manager.query<Part[]>(`${OPENABLE} LIMIT 1`, key);
  if (first === undefined) return 0;
  // Locks are taken in the order of a poll round: the poll, then parts, then requests.
  await clips.schedulePoll(manager, first, 0);
  // Locked, so that of two admins only one sends a part again.
  const parts = await manager.query<Part[]>(`${OPENABLE} FOR UPDATE`, key);
  await manager.query(
    `UPDATE video_request_parts SET next_poll_at = CASE WHEN status = 'processing' THEN now() END,
         due_at = CASE WHEN status = 'submitting' AND started_at IS NULL THEN now() ELSE due_at END
       WHERE hauler_id = $1 AND request_id = $2 AND status IN ('submitting', 'processing')`,
    key,
  );
  const ended = parts.filter(({ status }) => status === 'failed' || status === 'expired');
  for (const part of ended) {
    const isAccepted = part.status === 'expired' && part.submittedAt !== null;
    const status = revived.has(part.id) ? 'ready' : isAccepted ? 'processing' : 'submitting';
    await clips.transition(manager, part, status, null);
    await manager.query(
      `UPDATE video_request_parts SET deadline_at = now() + $3::float8 * interval '1 ms', attempts = 0, last_error = NULL,
           polls = 0, not_found = 0, next_poll_at = CASE WHEN status = 'processing' THEN now() END,
           due_at = CASE WHEN status = 'submitting' THEN now() END,
           may_be_taken = may_be_taken OR (submit_attempts > 0 AND submitted_at IS NULL),
           submitted_at = CASE WHEN status = 'submitting' THEN NULL ELSE submitted_at END,
           submit_attempts = CASE WHEN status = 'submitting' THEN 0 ELSE submit_attempts END,
           partner_request_id = CASE WHEN status = 'submitting' THEN NULL ELSE partner_request_id END
         WHERE hauler_id = $1 AND id = $2`,
      [haulerId, part.id, deadlineMs],
    );
  }
  await manager.query(
    `UPDATE video_requests SET deadline_at = (SELECT max(deadline_at) FROM video_request_parts
         WHERE hauler_id = $1 AND request_id = $2) WHERE hauler_id = $1 AND id = $2`,
    key,
  );
  return parts.length;
}
