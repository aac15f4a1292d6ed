/** Decision 49, by how good it is: of what overlaps, the better one counts. */
const COVERAGE_STATES = ['stored', 'available', 'expired', 'missing'] as const;
export type CoverageState = (typeof COVERAGE_STATES)[number];

/** What is known of one camera for a while; milliseconds since the epoch, the end not included. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly state: CoverageState;
  readonly recordingId?: string;
  readonly reason?: string;
}

const NOT_LISTED = 'The partner lists no recording.';

type Gap = (start: number, end: number) => readonly Piece[];

const notListed: Gap = (start, end) => [missing(start, end, NOT_LISTED)];

/**
 * What there is of `[from, to)`, without gaps and overlaps, in order: of several pieces the best one, of equally good ones
 * the one that began first. `gap` is what is told where there is no piece.
 */
export function coverageOf(pieces: readonly Piece[], from: number, to: number, gap = notListed): Piece[] {
  return [...eachCovered(pieces, from, to, gap)];
}

/** The same one by one, for who lets others work in between. */
export function* eachCovered(pieces: readonly Piece[], from: number, to: number, gap: Gap): Generator<Piece, void> {
  const within = pieces.filter(({ start, end }) => start < to && end > from && start < end);
  const marks = new Set([from, to]);
  for (const { start, end } of within) marks.add(Math.max(start, from)).add(Math.min(end, to));
  const cuts = Float64Array.from(marks).sort();
  const sorted = within.sort((a, b) => a.start - b.start || b.end - a.end);
  let last: Piece | undefined;
  let active: Piece[] = [];
  let next = 0;
  for (let i = 0; i + 1 < cuts.length; i++) {
    const [start = from, end = to] = [cuts[i], cuts[i + 1]];
    active = active.filter((piece) => piece.end > start);
    for (let piece = sorted[next]; piece !== undefined && piece.start <= start; piece = sorted[++next]) {
      if (piece.end > start) active.push(piece);
    }
    const best = active.reduce<Piece | undefined>(
      (one, other) => (one && rank(one) <= rank(other) ? one : other),
      undefined,
    );
    for (const piece of best === undefined ? gap(start, end) : [{ ...best, start, end }]) {
      if (last !== undefined && goesOn(last, piece)) last = { ...last, end: piece.end };
      else {
        if (last !== undefined) yield last;
        last = piece;
      }
    }
  }
  if (last !== undefined) yield last;
}

const rank = ({ state }: Piece): number => COVERAGE_STATES.indexOf(state);

/** Whether nothing but the time differs. */
const goesOn = (last: Piece, piece: Piece): boolean =>
  last.end === piece.start &&
  last.state === piece.state &&
  last.recordingId === piece.recordingId &&
  last.reason === piece.reason;

/** Why nothing is known of a time: it was not read yet, could not be read, nobody follows the truck, or nothing is listed. */
export interface Followed {
  readonly start: number;
  readonly readUntil: number;
  readonly holes: readonly { readonly start: number; readonly end: number; readonly reason: string }[];
  /** What the last reading failed by, if it did: why what comes then is not read. */
  readonly reason?: string;
  /** Its connection was deleted: what is not read will not be. */
  readonly isOver?: boolean;
}

export function gapsOf(followed: readonly Followed[]): Gap {
  const holes = followed.flatMap((each) =>
    each.holes.map(({ start, end, reason }) => missing(start, end, notRead({ ...each, reason }))),
  );
  const ranges = followed.flatMap((each) => [
    missing(each.start, each.readUntil, NOT_LISTED),
    missing(each.readUntil, Number.MAX_SAFE_INTEGER, notRead(each)),
  ]);
  const nobody = (start: number, end: number) => [
    missing(start, end, 'No subscription follows the truck at this time.'),
  ];
  // A hole lies within a followed range and hides it, so holes are asked first.
  return (from, to) => coverageOf(holes, from, to, (start, end) => coverageOf(ranges, start, end, nobody));
}

const missing = (start: number, end: number, reason: string): Piece => ({ start, end, state: 'missing', reason });

function notRead({ reason, isOver }: Followed): string {
  if (isOver === true) return 'Not read: the connection was deleted, and nothing is read any more.';
  return reason === undefined ? 'Not read yet.' : `Not read yet: ${reason}`;
}
