import type { WrongDay } from './coverage-days-check.repository.js';
import type { RecordingState } from './recording.rules.js';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** Of a sentence. */
const SHOWN_CAMERAS = 5;

/** A recording counts for so long at most: coverage looks back so far for recordings that reach into a time. */
export const MAX_MS = 31 * DAY_HOURS * HOUR_MS;

/** The order of the states in `milliseconds`: 24 hours of each. */
export const DAY_STATES = ['stored', 'available', 'expired', 'failed'] as const satisfies readonly RecordingState[];

/** A camera by one of its names. */
export interface CameraRow {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly truck_id: string;
  readonly camera_id: string;
}

export interface Footage {
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RecordingState;
}

/** A recording before and after a write; undefined where it did not exist, or does not any more. */
export interface FootageChange {
  readonly camera: CameraRow;
  readonly before?: Footage | undefined;
  readonly after?: Footage | undefined;
  /** It shares time with another recording of the camera, or may have gaps. */
  readonly overlaps?: boolean;
}

/** What is added to the sums of a camera on a day (UTC). */
export interface DayDelta extends CameraRow {
  readonly day: string;
  is_shared: boolean;
  /** Of each hour in each state. */
  readonly milliseconds: number[];
}

/** Whether the time of a recording has to be read from its row: only chunks of up to an hour are looked for nearby. */
export const isLong = ({ start_time, end_time }: Omit<Footage, 'status'>): boolean =>
  end_time.getTime() - start_time.getTime() > HOUR_MS;

/** The sums that the changes of recordings add to, in one order for all writers. */
export function dayDeltas(changes: readonly FootageChange[]): DayDelta[] {
  const deltas = new Map<string, DayDelta>();
  for (const { camera, before, after, overlaps = false } of changes) {
    if (before !== undefined) add(deltas, camera, before, -1, overlaps);
    if (after !== undefined) add(deltas, camera, after, 1, overlaps);
  }
  const isChange = ({ is_shared, milliseconds }: DayDelta) => is_shared || milliseconds.some((ms) => ms !== 0);
  return [...deltas.entries()]
    .filter(([, delta]) => isChange(delta))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, delta]) => delta);
}

function add(
  deltas: Map<string, DayDelta>,
  { hauler_id, connection_id, truck_id, camera_id }: CameraRow,
  { start_time, end_time, status }: Footage,
  sign: 1 | -1,
  overlaps: boolean,
): void {
  const end = Math.min(end_time.getTime(), start_time.getTime() + MAX_MS);
  const first = DAY_STATES.indexOf(status) * DAY_HOURS;
  for (let start = start_time.getTime(); start < end;) {
    const hour = Math.floor(start / HOUR_MS);
    const to = Math.min(end, (hour + 1) * HOUR_MS);
    const day = new Date(hour * HOUR_MS).toISOString().slice(0, 10);
    const key = JSON.stringify([hauler_id, connection_id, truck_id, camera_id, day]);
    const milliseconds = () => new Array<number>(DAY_STATES.length * DAY_HOURS).fill(0);
    const delta = deltas.get(key) ?? {
      ...{ hauler_id, connection_id, truck_id, camera_id, day, is_shared: overlaps },
      milliseconds: milliseconds(),
    };
    const place = first + (((hour % DAY_HOURS) + DAY_HOURS) % DAY_HOURS);
    delta.milliseconds[place] = (delta.milliseconds[place] ?? 0) + sign * (to - start);
    delta.is_shared ||= overlaps;
    deltas.set(key, delta);
    start = to;
  }
}

/** What differs on a day of a truck: times are those of all its differing cameras together. */
export function sumsSentence({ cameras, is_lost, summed_ms, recorded_ms }: WrongDay): string {
  const named = `${cameras.slice(0, SHOWN_CAMERAS).join(', ')}${cameras.length > SHOWN_CAMERAS ? ' and more' : ''}`;
  const recorded = `the recordings of ${named} have ${recorded_ms / 1000} s`;
  if (is_lost) return `${recorded}, and there are no sums`;
  if (summed_ms !== recorded_ms) return `${recorded}, the sums ${summed_ms / 1000} s`;
  return `${recorded}, the sums have them in other states or hours, or do not say that recordings share time`;
}
