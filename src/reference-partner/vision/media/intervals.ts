/** A range of wall-clock time in milliseconds since 1970, `to` excluded. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/**
 * Chunk times are often whole seconds while the lengths of videos are not, and cameras lose some frames between two files.
 * A gap shorter than this is not reported as missing.
 */
const MIN_GAP_MS = 1000;

/** The parts of `range` that no interval covers, oldest first. `covered` must be sorted, oldest first. */
export function gapsIn(range: Interval, covered: readonly Interval[]): Interval[] {
  const gaps: Interval[] = [];
  let reached = range.from;
  for (const { from, to } of [...covered, { from: range.to, to: range.to }]) {
    if (from - reached >= MIN_GAP_MS) gaps.push({ from: reached, to: from });
    reached = Math.max(reached, to);
  }
  return gaps;
}

/** The chunks that overlap `range`, oldest first. Among chunks with the same start the longest comes first. */
export function inOrder<C extends { startTime: Date; endTime: Date }>(chunks: readonly C[], range: Interval): C[] {
  return chunks
    .filter((chunk) => chunk.startTime < chunk.endTime)
    .filter((chunk) => chunk.startTime.getTime() < range.to && chunk.endTime.getTime() > range.from)
    .sort((a, b) => a.startTime.getTime() - b.startTime.getTime() || b.endTime.getTime() - a.endTime.getTime());
}

/**
 * Adds the next piece. Its key frame may lie before the end of earlier pieces. These are then cut at the key frame, or
 * removed if they begin after it, so that nothing is shown twice.
 */
export function joinPiece<P extends Interval>(pieces: readonly P[], next: P): P[] {
  const kept = pieces.filter((piece) => piece.from < next.from);
  return [...kept.map((piece) => (piece.to > next.from ? { ...piece, to: next.from } : piece)), next];
}
