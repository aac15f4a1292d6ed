/** A stretch of wall-clock time in milliseconds since 1970, `to` excluded. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * Chunk times are often whole seconds while films are not, and cameras lose some frames between two files: a gap
 * shorter than this is not reported as missing.
 */
const UNNOTICED_GAP_MS = 1000;

/** What of `range` none of the intervals covers, oldest first; they are given oldest first too. */
export function gapsIn(range: Interval, covered: readonly Interval[]): Interval[] {
  const gaps: Interval[] = [];
  let reached = range.from;
  for (const { from, to } of [...covered, { from: range.to, to: range.to }]) {
    if (from - reached >= UNNOTICED_GAP_MS) gaps.push({ from: reached, to: from });
    reached = Math.max(reached, to);
  }
  return gaps;
}

/** The chunks that touch `range`, oldest first; of those that begin together the longest first. */
export function inOrder<C extends { startTime: Date; endTime: Date }>(chunks: readonly C[], range: Interval): C[] {
  return chunks
    .filter((chunk) => chunk.startTime < chunk.endTime)
    .filter((chunk) => chunk.startTime.getTime() < range.to && chunk.endTime.getTime() > range.from)
    .sort((a, b) => a.startTime.getTime() - b.startTime.getTime() || b.endTime.getTime() - a.endTime.getTime());
}

/**
 * Adds the next piece. It begins at a key frame, which may lie before the end of the last piece: that one then ends
 * there, so that nothing is shown twice; and it falls out if it would begin no earlier.
 */
export function joinPiece<P extends Interval>(pieces: readonly P[], next: P): P[] {
  const kept = pieces.filter((piece) => piece.from < next.from);
  return [...kept.map((piece) => (piece.to > next.from ? { ...piece, to: next.from } : piece)), next];
}
