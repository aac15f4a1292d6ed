import type { OtherQuantities, TonnageRow } from '../../../contracts/admin/report.dto.js';
import { DAY_MS, localTime, momentOf } from '../../parts/zone.rules.js';

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
