import type { OtherQuantities, TonnageRow } from '../../../contracts/admin/tickets.routes.js';
import { DAY_MS, dayOf, localTime, momentOf } from '../../parts/zone.rules.js';

export const RANGES = ['month', 'last', 'own'] as const;
export type RangeName = (typeof RANGES)[number];

/** From the first moment until the first one after it, in milliseconds. */
export type Span = readonly [from: number, to: number];

/** A whole calendar month in the zone; `offset` -1 is the one before. */
function monthOf(now: number, zone: string, offset: number): Span {
  const local = new Date(localTime(now, zone));
  const startOf = (months: number) => momentOf(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + months, 1), zone);
  return [startOf(offset), startOf(offset + 1)];
}

/** `2026-01-31` as the start of this local day; undefined for any other text. */
function dayStart(day: string, zone: string, plusDays = 0): number | undefined {
  const local = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(local) ? undefined : momentOf(local + plusDays * DAY_MS, zone);
}

/** The range of the page. Both own days are included; undefined while they are no range. */
export function spanOf(range: RangeName, [first, last]: readonly [string, string], now: number, zone: string) {
  if (range !== 'own') return monthOf(now, zone, range === 'last' ? -1 : 0);
  const [from, to] = [dayStart(first, zone), dayStart(last, zone, 1)];
  return from === undefined || to === undefined || from >= to ? undefined : ([from, to] as const);
}

/** The local day that contains a moment, as a `date` input has it. */
export const dayText = (time: number, zone: string): string =>
  new Date(localTime(time, zone)).toISOString().slice(0, 10);

type Unit = keyof OtherQuantities;

/** The units without a weight that any row has. */
export const unitsOf = (rows: readonly TonnageRow[]): Unit[] =>
  (['Cubic Yard', 'Cubic Meter', 'Gallon', 'Item'] as const).filter((unit) =>
    rows.some(({ other }) => other[unit] !== undefined),
  );

/** The sum of what the rows have, without the digits that sums of binary numbers add; the largest double where it is larger. */
export function sumOf(rows: readonly TonnageRow[], of: (row: TonnageRow) => number | undefined): number {
  const sum = rows.reduce((before, row) => finite(before + (of(row) ?? 0)), 0);
  return finite(Number(sum.toPrecision(15)));
}

const finite = (sum: number): number => Math.min(Math.max(sum, -Number.MAX_VALUE), Number.MAX_VALUE);

/** Longer times have a bar for each month that has tickets. */
const MAX_DAY_BARS = 62;

export interface Bar {
  /** `2026-01-31`, or `2026-01` in a long time. */
  readonly key: string;
  readonly tons: number;
}

/** The tonnage of each local day of the range, also of those without a ticket; of each month where there are too many days. */
export function barsOf(days: readonly TonnageRow[], [from, to]: Span, zone: string): Bar[] {
  if (to - from > (MAX_DAY_BARS + 1) * DAY_MS) {
    const months = Map.groupBy(days, ({ key }) => key.slice(0, 7));
    return [...months].map(([key, rows]) => ({ key, tons: sumOf(rows, ({ tons }) => tons) }));
  }
  const tons = new Map(days.map((row) => [row.key, row.tons]));
  const bars: Bar[] = [];
  // Day by day: one of 23 or 25 hours is one day.
  for (let time = from; time < to; [, time] = dayOf(time, zone)) {
    const key = dayText(time, zone);
    bars.push({ key, tons: tons.get(key) ?? 0 });
  }
  return bars;
}

/** Round numbers for a scale that includes zero and these values: at most five, the lowest first. */
export function scaleOf(values: readonly number[]): readonly number[] {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const rough = high / 4 - low / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? 0;
  if (!Number.isFinite(step * 8) || step === 0) return [low, high];
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)];
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

export interface Share {
  readonly name: string;
  readonly tons: number;
  /** Of all that was received, from 0 to 1. */
  readonly share: number;
}

const MAX_SHARES = 8;

/** The materials with the most tons, and the rest as one. What was reversed, or has no weight, is no share. */
export function sharesOf(materials: readonly TonnageRow[]): Share[] {
  const received = materials.filter(({ tons }) => tons > 0).toSorted((one, other) => other.tons - one.tons);
  const all = sumOf(received, ({ tons }) => tons);
  const rest = received.slice(received.length > MAX_SHARES ? MAX_SHARES - 1 : MAX_SHARES);
  const named = received.slice(0, received.length - rest.length).map(({ name, tons }) => ({ name, tons }));
  const others = { name: `${rest.length} others`, tons: sumOf(rest, ({ tons }) => tons) };
  return [...named, ...(rest.length === 0 ? [] : [others])].map((each) => ({ ...each, share: each.tons / all }));
}
