/** Times in milliseconds since the epoch. A local time is what a clock in the zone shows, counted as if it were UTC. */

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  formats.set(zone, format);
  return format;
}

export function localTime(time: number, zone: string): number {
  const whole = Math.floor(time / 1_000) * 1_000;
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(whole)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (time - whole);
}

/** The moment at which a clock in the zone shows a local time: the first of two; after a gap, the moment of its end. */
export function momentOf(local: number, zone: string): number {
  const offsetAt = (time: number) => localTime(time, zone) - time;
  const candidates = [local - offsetAt(local - DAY_MS), local - offsetAt(local + DAY_MS)].sort((a, b) => a - b);
  return candidates.find((time) => localTime(time, zone) === local) ?? candidates.at(-1) ?? local;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const STEPS = [
  1_000,
  5_000,
  15_000,
  30_000,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  DAY_MS,
  2 * DAY_MS,
  7 * DAY_MS,
];

export interface Tick {
  readonly time: number;
  readonly label: string;
}

/** Marks at round local times, at most `max`. The labels of days have the date. */
export function ticksOf(from: number, to: number, zone: string, max: number): Tick[] {
  const step = STEPS.find((each) => (to - from) / each <= max) ?? 7 * DAY_MS;
  const first = Math.ceil(localTime(from, zone) / step) * step;
  const ticks = new Map<number, Tick>();
  for (let local = first; local <= localTime(to, zone); local += step) {
    const time = momentOf(local, zone);
    if (time >= from && time <= to) ticks.set(time, { time, label: labelOf(time, zone, step) });
  }
  return [...ticks.values()];
}

/** With the date alone where a step is a day, and at midnight. */
export function labelOf(time: number, zone: string, step: number): string {
  const isMidnight = localTime(time, zone) % DAY_MS === 0;
  const date = { timeZone: zone, month: 'short', day: 'numeric' } as const;
  if (step >= DAY_MS || isMidnight) return new Date(time).toLocaleDateString(undefined, date);
  const seconds = step < MINUTE_MS ? ({ second: '2-digit' } as const) : {};
  return new Date(time).toLocaleTimeString(undefined, {
    timeZone: zone,
    hourCycle: 'h23',
    hour: '2-digit',
    minute: '2-digit',
    ...seconds,
  });
}

/** The local day that contains a moment. It has 23 or 25 hours where the clocks change. */
export function dayOf(time: number, zone: string): readonly [start: number, end: number] {
  const local = Math.floor(localTime(time, zone) / DAY_MS) * DAY_MS;
  return [momentOf(local, zone), momentOf(local + DAY_MS, zone)];
}

export const isZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A whole time with its zone, or that of the browser. */
export const wholeTime = (time: number | string, timeZone?: string): string =>
  new Date(time).toLocaleString(undefined, { timeZone, dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' });

/** A range in words, in the zone; the day once where it begins and ends on the same one. */
export function rangeText(from: number, to: number, zone: string): string {
  const format = new Intl.DateTimeFormat(undefined, {
    timeZone: zone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return format.formatRange(from, to);
}
