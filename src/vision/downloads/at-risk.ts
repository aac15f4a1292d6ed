/** A file that waits. */
export interface Waiting {
  readonly connectionId: string;
  /** When its link dies; absent where the link does not say. Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
}

export interface Pace {
  /** Milliseconds that one file takes. */
  readonly fileMs: number;
  /** Files at once: of one connection, and in all. */
  readonly perConnection: number;
  readonly inAll: number;
}

/**
 * How many of the waiting files will not have begun when their links die, as things go: they are taken in order of their
 * links' ends, each waiting for those before it, of its connection and of all. Files whose links are dead already count.
 */
export function atRisk(waiting: readonly Waiting[], { fileMs, perConnection, inAll }: Pace, now: number): number {
  const order = [...waiting].sort((a, b) => (a.expiresAt ?? Infinity) - (b.expiresAt ?? Infinity));
  const before = new Map<string, number>();
  let begun = 0;
  let lost = 0;
  for (const { connectionId, expiresAt } of order) {
    const own = before.get(connectionId) ?? 0;
    const waitMs = Math.max(Math.floor(own / perConnection), Math.floor(begun / inAll)) * fileMs;
    if (expiresAt !== undefined && now + waitMs >= expiresAt) {
      // It is not begun, and so takes nobody's place.
      lost += 1;
      continue;
    }
    before.set(connectionId, own + 1);
    begun += 1;
  }
  return lost;
}
