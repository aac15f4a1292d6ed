/** How a kind's records have become fewer, in numbers of the connection's active records of that kind (decision 35). */
export interface Drop {
  /** Before the run. */
  readonly activeBefore: number;
  /** Of these, those that the answer does not contain. */
  readonly absent: number;
  /** What would be active after the run if the absent ones were removed. */
  readonly remaining: number;
  /** Removals that an earlier run held. */
  readonly held: number;
  /** Of these, those whose records are absent still. */
  readonly stillAbsent: number;
}

const LARGEST_SHARE = 0.2;
const LARGEST_NUMBER = 5;

/**
 * Whether the removals of a kind wait for an admin: when it drops to zero, or by more than a fifth and more than five
 * at once. What is held stays so while the absence is the same or grows, even where new records make it a small share
 * by now; when some have come back, it is judged anew.
 */
export function holdsRemovals({ activeBefore, absent, remaining, held, stillAbsent }: Drop): boolean {
  if (absent === 0) return false;
  if (held > 0 && stillAbsent === held) return true;
  if (remaining === 0) return true;
  return absent > LARGEST_NUMBER && absent > activeBefore * LARGEST_SHARE;
}
