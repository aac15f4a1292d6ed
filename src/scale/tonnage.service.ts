import { Injectable } from '@nestjs/common';
import {
  CUSTOM_FIELD,
  MAX_REPORT_ROWS,
  type OtherQuantities,
  type Tonnage,
  type TonnageQuery,
  type TonnageRow,
} from '../contracts/admin/tickets.routes.js';
import { epochMillis } from '../contracts/common/instant.js';
import { readTimeZone, timeZoneViolation } from '../contracts/common/time-zone.js';
import { Database } from '../core/database/database.js';
import { isInvalidParameter } from '../core/database/postgres-errors.js';
import { minUuidv7Of } from '../core/database/uuid.js';
import { invalid } from '../core/errors/app-error.js';
import { siteNames, type TonnageGroup, tonnageParts, type TonnageSums, tonsBetween } from './tonnage.repository.js';

const OTHERS = ['Gallon', 'Cubic Yard', 'Cubic Meter', 'Item'] as const;

interface Sum {
  name: string;
  tons: number;
  tickets: number;
  readonly other: OtherQuantities;
}

/** Sums over the current state of tickets. */
@Injectable()
export class TonnageReport {
  constructor(private readonly database: Database) {}

  async of({ haulerId, from, to, groupBy, timeZone = 'UTC' }: TonnageQuery): Promise<Tonnage> {
    const zone = readTimeZone(timeZone);
    if (zone === undefined) throw invalid([timeZoneViolation('timeZone', timeZone)]);
    const field = groupBy.startsWith(CUSTOM_FIELD) ? groupBy.slice(CUSTOM_FIELD.length) : undefined;
    const group = field === undefined ? (groupBy as TonnageGroup) : 'customField';
    const parameters = field !== undefined ? [field] : group === 'day' ? [zone.name, zone.offsetMinutes] : [];
    const range = { haulerId, first: minUuidv7Of(epochMillis(from)), end: minUuidv7Of(epochMillis(to)) };
    const sums = new Map<string, Sum>();
    try {
      for await (const part of tonnageParts(this.database, range, group, parameters)) {
        for (const each of part) add(sums, each);
        if (sums.size > MAX_REPORT_ROWS) throw tooManyRows();
      }
    } catch (error) {
      // A zone that is newer than the time zones of the database.
      throw isInvalidParameter(error) ? invalid([timeZoneViolation('timeZone', timeZone)]) : error;
    }
    const names = group === 'site' ? await siteNames(this.database, haulerId) : undefined;
    const nameOf = (key: string, { name }: Sum) => names?.get(key) ?? (group === 'material' ? name : key);
    const rows = [...sums].map(([key, sum]): TonnageRow => ({
      key,
      name: nameOf(key, sum),
      tons: exact(sum.tons),
      tickets: sum.tickets,
      other: sum.other,
    }));
    return { data: rows.sort(group === 'day' ? byKey : byTons), unit: 'short ton' };
  }

  /** The short tons of the tickets first received in a time, of these haulers or of all. */
  async total(haulers: readonly string[] | undefined, from: number, to: number): Promise<number> {
    const tons = await tonsBetween(this.database, haulers, [minUuidv7Of(from), minUuidv7Of(to)]);
    return exact(finite(Number(tons)));
  }
}

function add(sums: Map<string, Sum>, part: TonnageSums): void {
  const sum = sums.get(part.key) ?? { name: part.name ?? part.key, tons: 0, tickets: 0, other: {} };
  sum.tons = total(sum.tons, part.tons);
  for (const unit of OTHERS) {
    const quantity = part[unit];
    if (quantity !== null) sum.other[unit] = exact(total(sum.other[unit] ?? 0, quantity));
  }
  sum.name = part.name ?? sum.name;
  sum.tickets += part.tickets;
  sums.set(part.key, sum);
}

const total = (sum: number, part: string): number => finite(sum + finite(Number(part)));

/** Fifteen digits hide what the sum of decimal numbers in binary adds. */
const exact = (sum: number): number => finite(Number(sum.toPrecision(15)));

/** JSON has no infinity: what is beyond the largest double is that double. */
const finite = (sum: number): number => Math.min(Math.max(sum, -Number.MAX_VALUE), Number.MAX_VALUE);

const byKey = (a: TonnageRow, b: TonnageRow): number => (a.key < b.key ? -1 : 1);
const byTons = (a: TonnageRow, b: TonnageRow): number => b.tons - a.tons || byKey(a, b);

function tooManyRows() {
  const message = `groupBy has more than ${MAX_REPORT_ROWS} values in this time: choose a shorter time or another field`;
  return invalid([{ path: 'groupBy', rule: 'max', message }]);
}
