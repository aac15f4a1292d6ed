/** Decision 49, by how good it is: of what overlaps, the better one counts. */
const COVERAGE_STATES = ['stored', 'available', 'expired', 'missing'] as const;
export type CoverageState = (typeof COVERAGE_STATES)[number];

/** Behind every recording: a hole hides the followed range that it lies in, and that hides that nobody follows. */
const [HOLE, RANGE, NOBODY] = [4, 5, 6];

/** What is known of one camera for a while; milliseconds since the epoch, the end not included. */
export interface Piece {
  readonly start: number;
  readonly end: number;
  readonly state: CoverageState;
  /** Of what overlaps, the lower one counts. Default: by its state, as recordings do. */
  readonly rank?: number;
  readonly recordingId?: string;
  readonly reason?: string;
}

/**
 * What there is of `[from, to)`, without gaps and overlaps, in order and one by one, for who lets others work in between:
 * of several pieces the best one, of equally good ones the one that began first. `pieces` leave no gap: `gapsOf` fills it.
 */
export function* eachCovered(pieces: readonly Piece[], from: number, to: number): Generator<Piece, void> {
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
    for (let piece = sorted[next]; piece !== undefined && piece.start <= start; piece = sorted[++next])
      active.push(piece);
    const best = active.reduce((one, other) => (rankOf(one) <= rankOf(other) ? one : other));
    if (last !== undefined && isSame(last, best)) last = { ...last, end };
    else {
      if (last !== undefined) yield last;
      last = { ...best, start, end };
    }
  }
  if (last !== undefined) yield last;
}

const rankOf = ({ state, rank = COVERAGE_STATES.indexOf(state) }: Piece): number => rank;

/** Whether nothing but the time differs. */
const isSame = (one: Piece, other: Piece): boolean =>
  one.state === other.state && one.recordingId === other.recordingId && one.reason === other.reason;

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

const FOREVER = Number.MAX_SAFE_INTEGER;

/** What is told where there is no recording; of all time. */
export const gapsOf = (followed: readonly Followed[]): Piece[] => [
  ...followed.flatMap((each) => [
    ...each.holes.map(({ start, end, reason }) => missing(HOLE, start, end, notRead({ ...each, reason }))),
    missing(RANGE, each.start, each.readUntil, 'The partner lists no recording.'),
    missing(RANGE, each.readUntil, FOREVER, notRead(each)),
  ]),
  missing(NOBODY, -FOREVER, FOREVER, 'No subscription follows the truck at this time.'),
];

const missing = (rank: number, start: number, end: number, reason: string): Piece => ({
  start,
  end,
  state: 'missing',
  rank,
  reason,
});

function notRead({ reason, isOver }: Followed): string {
  if (isOver === true) return 'Not read: the connection was deleted, and nothing is read any more.';
  return reason === undefined ? 'Not read yet.' : `Not read yet: ${reason}`;
}
