import type { SyncKind } from '../../contracts/admin/sync.values.js';
import type { RemovalGuard } from '../../contracts/admin/sync-runs.routes.js';

/** Numbers of the connection's active records of one kind (decision 35). */
export interface RemovalCounts {
  /** Active before the run. */
  readonly activeBefore: number;
  /** Of these, the ones that the answer does not contain. */
  readonly absent: number;
  /** Active after the run if the absent ones are removed. */
  readonly remaining: number;
  /** Removals that an earlier run held. */
  readonly held: number;
  /** Of these, the ones that are still absent. */
  readonly stillAbsent: number;
  /** Absent records whose removal an admin has rejected. */
  readonly rejectedAbsent: number;
}

/** The rule that held the removals of a kind, with its numbers. */
export const removalGuard = (kind: SyncKind, removed: number, of: number): RemovalGuard => ({
  kind,
  removed,
  of,
  share: of === 0 ? 1 : removed / of,
});

const MAX_SHARE = 0.2;
const MAX_NUMBER = 5;

/**
 * Whether the removals wait for an admin: if nothing would remain, or if more than a fifth and more than five records
 * would be removed. Held removals stay held while all of them are absent, even if new records make their share small;
 * if some have come back, the rule is applied again. A removal that an admin rejected is held again.
 */
export function holdsRemovals(counts: RemovalCounts): boolean {
  const { activeBefore, absent, remaining, held, stillAbsent, rejectedAbsent } = counts;
  if (absent === 0) return false;
  if (rejectedAbsent > 0) return true;
  if (held > 0 && stillAbsent === held) return true;
  if (remaining === 0) return true;
  return absent > MAX_NUMBER && absent > activeBefore * MAX_SHARE;
}
