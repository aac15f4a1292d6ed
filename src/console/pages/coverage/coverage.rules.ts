import type { Coverage, CoverageCause, CoverageInterval } from '../../../contracts/admin/coverage.dto.js';

export const TRACK_STATES = ['stored', 'available', 'expired', 'failed', 'unread', 'none', 'future'] as const;
export type TrackState = (typeof TRACK_STATES)[number];

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
export function stateOf({ state, lost, cause }: CoverageInterval): TrackState {
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
