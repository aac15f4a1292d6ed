import type { LocalDay } from '../../vision/coverage/coverage.rules.js';

/** Milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A day until a time of day, and the whole day before it. */
export interface TwoDays {
  readonly today: Span;
  readonly yesterday: Span;
}

/** What a source sent in these. */
export type Sent = Readonly<Record<keyof TwoDays, number>>;

/** A source that sent too little, and on which of the two days. */
export interface Quiet {
  readonly day: keyof TwoDays;
  readonly sent: number;
  readonly usual: number;
}

const DAYS_OF_WEEK = 7;
export const WEEKS = 4;
export const MAX_QUIET = 20;
/** Below half of what is usual. */
const QUIET_SHARE = 0.5;

/** The last two days, and the same of the weeks before, the latest first. `days`: without a gap, the last one is today. */
export function weeksOf(days: readonly LocalDay[], now: number): TwoDays[] {
  const last = days.length - 1;
  const elapsed = now - (days[last]?.start ?? now);
  return Array.from({ length: WEEKS + 1 }, (_, week) => {
    const [day, before] = [days[last - week * DAYS_OF_WEEK], days[last - week * DAYS_OF_WEEK - 1]];
    if (day === undefined || before === undefined) return [];
    const to = Math.min(day.end, day.start + elapsed);
    return [{ today: { from: day.start, to }, yesterday: { from: before.start, to: before.end } }];
  }).flat();
}

/** The middle one of the weeks since the source first sent something; of an even number the lower one. The latest week is first. */
export function usualOf(weeks: readonly number[]): number {
  const known = weeks.slice(0, weeks.findLastIndex((sent) => sent > 0) + 1).toSorted((one, other) => one - other);
  return known[Math.ceil(known.length / 2) - 1] ?? 0;
}

/**
 * Whether a source has sent less than half of what is usual today, or yesterday where today says nothing. `chance`: what a source may
 * be short of by chance, so that few or short readings are no news. The latest week is first.
 */
export function quietOf(
  [now = { today: 0, yesterday: 0 }, ...weeks]: readonly Sent[],
  chance: (usual: number) => number,
  hasToday = true,
): Quiet | undefined {
  const usual = {
    today: usualOf(weeks.map(({ today }) => today)),
    yesterday: usualOf(weeks.map((week) => week.yesterday)),
  };
  const day = hasToday && usual.today > chance(usual.today) ? 'today' : 'yesterday';
  const [sent, expected] = [now[day], usual[day]];
  const isQuiet = sent < expected * QUIET_SHARE && expected - sent > chance(expected);
  return isQuiet ? { day, sent, usual: expected } : undefined;
}

/** Tickets come by chance: their number varies by its square root. */
export const ticketChance = (usual: number): number => 2 * Math.sqrt(usual);

/** A camera pauses where the truck does. */
const CAMERA_CHANCE_SECONDS = 1_800;
export const footageChance = (): number => CAMERA_CHANCE_SECONDS;
