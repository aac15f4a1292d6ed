import type { CoverageInterval } from '../../contracts/admin/coverage.routes.js';
import { gaps, lengthMs, overlap, type Span } from '../range.js';

/** A time around a weighing. It is running if its end is still to come: it then ends now. */
export interface FootageSpan extends Span {
  readonly isRunning: boolean;
}

/** A part of a clip request that is open, or whose clip is stored. */
export interface RequestedPart extends Span {
  readonly isOpen: boolean;
}

/** Chunks of continuous video may be this far apart: to a viewer that is no gap. */
const MIN_CLIP_MS = 2_000;

/** The times of one camera that are neither stored nor about to be. Adjacent intervals are one time. */
export function missingSpans(intervals: readonly CoverageInterval[]): Span[] {
  const spans: Span[] = [];
  for (const { startTime, endTime, state, cause } of intervals) {
    if (state === 'stored' || state === 'available' || cause === 'future') continue;
    const [start, end] = [Date.parse(startTime), Date.parse(endTime)];
    const last = spans.at(-1);
    if (last?.end === start) spans[spans.length - 1] = { start: last.start, end };
    else spans.push({ start, end });
  }
  return spans;
}

/**
 * The times to request: what is missing and not requested yet. A range that is running grows with each call; while a clip
 * of it is open, the rest waits, so that two clicks make one request.
 */
export function clipsToRequest(
  range: FootageSpan,
  missing: readonly Span[],
  requested: readonly RequestedPart[],
): Span[] {
  const within = requested.filter((part) => overlap(part, range) > 0);
  if (range.isRunning && within.some(({ isOpen }) => isOpen)) return [];
  return missing.flatMap((span) => gaps(span, within)).filter((span) => lengthMs(span) >= MIN_CLIP_MS);
}
