import type { Coverage, CoverageCause, CoverageInterval, TruckDay } from '../../../contracts/admin/coverage.routes.js';
import type { FootageFlow, FootageRange, TicketFootage } from '../../../contracts/admin/footage.dto.js';
import type { StoredRecording } from '../../../contracts/admin/recordings.routes.js';
import { DAY_MS, dayOf, localTime, momentOf } from '../../parts/zone.rules.js';
import { timeText } from './coverage-sentence.rules.js';

/** The reasons for which a clip may be requested nevertheless. */
const OPEN_REASONS: readonly TicketFootage['reasonCode'][] = [undefined, 'unknownTruck'];

const isMissing = ({ state, cause }: CoverageInterval): boolean =>
  (state === 'missing' || state === 'expired') && cause !== 'future';

/** Whether something is missing that no open request asks for. The service decides what exactly. */
export function canRequest({ reasonCode, coverage, requests }: TicketFootage): boolean {
  if (!OPEN_REASONS.includes(reasonCode)) return false;
  const open = requests.filter(({ status }) => !['failed', 'expired'].includes(status));
  return coverage.some(
    (interval) =>
      isMissing(interval) &&
      !open.some(
        ({ cameraId, startTime, endTime }) =>
          cameraId === interval.cameraId &&
          Date.parse(startTime) <= Date.parse(interval.startTime) &&
          Date.parse(endTime) >= Date.parse(interval.endTime),
      ),
  );
}

const contains = ({ startTime, endTime }: StoredRecording, time: number): boolean =>
  Date.parse(startTime) <= time && time < Date.parse(endTime);

/** The stored recording at a moment, or the one that is nearest to it. */
export function recordingAt(stored: readonly StoredRecording[], moment: string): StoredRecording | undefined {
  const time = Date.parse(moment);
  const distance = ({ startTime, endTime }: StoredRecording) =>
    Math.max(Date.parse(startTime) - time, time - Date.parse(endTime), 0);
  return stored.find((each) => contains(each, time)) ?? stored.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** The weighings with stored footage in their range, those first that were recorded themselves. */
export function momentsOf(ranges: readonly FootageRange[], stored: readonly StoredRecording[]): FootageFlow[] {
  const flows = ranges
    .filter(({ startTime, endTime }) =>
      stored.some((each) => Date.parse(each.startTime) < Date.parse(endTime) && each.endTime > startTime),
    )
    .flatMap((range) => range.flows);
  const isRecorded = ({ time }: FootageFlow) => stored.some((each) => contains(each, Date.parse(time)));
  return flows.toSorted((a, b) => Number(isRecorded(b)) - Number(isRecorded(a)));
}

/** The last minutes of each day are not read yet until the next reading. */
const MIN_UNREAD_SECONDS = 3_600;

/** How a square shows a day: its colour, its sign, and both in words. */
export interface DayState {
  readonly level: number | 'none' | 'unread';
  readonly sign: string;
  readonly text: string;
  readonly isLost: boolean;
}

/** A day without recordings looks different from one whose recordings are not stored or not known. */
export function dayStateOf({ stored, available, expired, failed, lost, unread }: TruckDay): DayState {
  // Of what was recorded: a truck that drives half a day is complete with half a day.
  const recorded = stored + available + lost;
  const isLost = lost > 0;
  const unreadText = unread === 0 ? '' : `; ${timeText(unread)} not known, because the list was not read`;
  if (recorded === 0) {
    return unread >= MIN_UNREAD_SECONDS
      ? { level: 'unread', sign: '?', text: `not known${unreadText}`, isLost }
      : { level: 'none', sign: '–', text: `not recorded, 0% stored${unreadText}`, isLost };
  }
  const part = (seconds: number) => percent(seconds / recorded);
  const text = `${part(stored)} stored, ${part(available)} available, ${part(expired)} expired, ${part(failed)} failed${unreadText}`;
  return { level: Math.ceil((stored / recorded) * 5), sign: part(stored), text, isLost };
}

/** Only what is whole is 100 %. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  return `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100}%`;
}

/** A day of a calendar: `2026-01-31`, with its moments. */
export interface CalendarDay {
  readonly day: string;
  readonly start: number;
  readonly end: number;
}

interface Month {
  /** `2026-01`, and those before and after it. */
  readonly name: string;
  readonly previous: string;
  readonly next: string;
  /** Seven places each; a place before the first or after the last day is empty. */
  readonly weeks: readonly (readonly (CalendarDay | undefined)[])[];
  readonly start: number;
  readonly end: number;
}

const nameOf = (local: number): string => new Date(local).toISOString().slice(0, 7);

/** The month of a name such as `2026-01`, or else that of a moment, as a calendar in the zone has it. `firstDay`: 1 is Monday, 7 Sunday. */
export function monthOf(name: string | null, moment: number, zone: string, firstDay: number): Month {
  const isName = name !== null && /^\d{4}-(0[1-9]|1[0-2])$/.test(name);
  const first = Date.parse(`${isName ? name : nameOf(localTime(moment, zone))}-01T00:00:00Z`);
  const next = new Date(first);
  next.setUTCMonth(next.getUTCMonth() + 1);
  const empty = (new Date(first).getUTCDay() - (firstDay % 7) + 7) % 7;
  const places: (CalendarDay | undefined)[] = Array.from({ length: empty }, () => undefined);
  for (let local = first; local < next.getTime(); local += DAY_MS) {
    // By noon: a midnight may not exist.
    const [start, end] = dayOf(momentOf(local + DAY_MS / 2, zone), zone);
    places.push({ day: new Date(local).toISOString().slice(0, 10), start, end });
  }
  while (places.length % 7 > 0) places.push(undefined);
  return {
    name: nameOf(first),
    previous: nameOf(first - DAY_MS),
    next: nameOf(next.getTime()),
    weeks: Array.from({ length: places.length / 7 }, (_, week) => places.slice(week * 7, week * 7 + 7)),
    start: places[empty]?.start ?? first,
    end: places.findLast((place) => place !== undefined)?.end ?? first,
  };
}

export const TRACK_STATES = ['stored', 'available', 'expired', 'failed', 'unread', 'none', 'future'] as const;
type TrackState = (typeof TRACK_STATES)[number];

export const STATE_TITLES: Readonly<Record<TrackState, string>> = {
  stored: 'stored',
  available: 'available, not stored yet',
  expired: 'expired',
  failed: 'failed',
  unread: 'not known, because the list was not read',
  none: 'not recorded',
  future: 'still to come',
};

/** A part of a track. Where several states share a bucket, each has its share. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly shares: Readonly<Partial<Record<TrackState, number>>>;
  readonly reason?: string;
  readonly recordingId?: string;
}

export interface Track {
  readonly camera: string;
  readonly segments: readonly Segment[];
}

/** A range of one camera that the user has chosen. */
export interface Selection {
  readonly camera: string;
  readonly start: number;
  readonly end: number;
}

type Row = Coverage['data'][number];

/** One track per camera, by name. Adjacent equal segments become one. */
export function tracksOf(rows: readonly Row[]): Track[] {
  const tracks = new Map<string, Segment[]>();
  for (const row of rows) {
    const camera = row.cameraId ?? 'all cameras';
    const segments = tracks.get(camera) ?? [];
    tracks.set(camera, segments);
    const segment = segmentOf(row);
    const last = segments.at(-1);
    if (last !== undefined && isSame(last, segment)) segments[segments.length - 1] = { ...last, end: segment.end };
    else segments.push(segment);
  }
  return [...tracks].map(([camera, segments]) => ({ camera, segments })).sort((a, b) => (a.camera < b.camera ? -1 : 1));
}

function segmentOf(row: Row): Segment {
  const [start, end] = [Date.parse(row.startTime), Date.parse(row.endTime)];
  if ('state' in row) {
    const { recordingId, reason } = row;
    const details = {
      ...(reason === undefined ? {} : { reason }),
      ...(recordingId === undefined ? {} : { recordingId }),
    };
    return { start, end, shares: { [stateOf(row)]: 1 }, ...details };
  }
  const seconds = (end - start) / 1_000;
  const { stored, available, expired, failed, unread, missing, future } = row;
  const none = missing - failed - unread;
  const times: Readonly<Record<TrackState, number>> = { stored, available, expired, failed, unread, none, future };
  const shares = TRACK_STATES.filter((state) => times[state] > 0).map((state) => [state, times[state] / seconds]);
  return { start, end, shares: Object.fromEntries(shares) as Segment['shares'] };
}

const UNREAD: readonly (CoverageCause | undefined)[] = ['unread', 'notReadYet', 'connectionDeleted'];

/** What is missing has failed, or is still to come, or nobody knows whether it was recorded, or it was not. */
function stateOf({ state, lost, cause }: CoverageInterval): TrackState {
  if (state !== 'missing') return state;
  if (lost) return 'failed';
  if (cause === 'future') return 'future';
  return UNREAD.includes(cause) ? 'unread' : 'none';
}

function isSame(one: Segment, other: Segment): boolean {
  if (one.end !== other.start || one.reason !== other.reason || one.recordingId !== other.recordingId) return false;
  return TRACK_STATES.every((state) => Math.abs((one.shares[state] ?? 0) - (other.shares[state] ?? 0)) < 0.01);
}

/** The state of a segment in words. */
export function describe({ shares, reason }: Segment): string {
  const present = TRACK_STATES.filter((state) => (shares[state] ?? 0) > 0);
  const texts = present.map((state) => {
    const percent = Math.round((shares[state] ?? 0) * 100);
    return percent >= 100 ? STATE_TITLES[state] : `${percent} % ${STATE_TITLES[state]}`;
  });
  return texts.join(', ') + (reason === undefined ? '' : `: ${reason}`);
}

export const segmentAt = ({ segments }: Track, time: number): Segment | undefined =>
  segments.find(({ start, end }) => start <= time && time < end);

/** The range after zooming by a factor around a moment: between one minute and 31 days. */
export function zoomed(from: number, to: number, factor: number, around: number): readonly [number, number] {
  const [min, max] = [60_000, 31 * 86_400_000];
  const length = Math.min(max, Math.max(min, (to - from) * factor));
  const share = (around - from) / (to - from);
  const start = Math.round(around - length * share);
  return [start, start + Math.round(length)];
}

/** Seconds of a bucket for about one bucket every two pixels; undefined where single intervals are drawn. */
export function resolutionOf(from: number, to: number, pixels: number): number | undefined {
  const seconds = (to - from) / 1_000;
  return seconds <= 6 * 3_600 ? undefined : Math.max(1, Math.ceil(seconds / (pixels / 2)));
}
