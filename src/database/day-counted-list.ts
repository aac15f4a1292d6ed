import type { DataSource } from 'typeorm';
import type { Instant } from '../contracts/common/instant.js';
import type { PageRequest } from '../contracts/common/pagination.dto.js';

/**
 * A table of intervals in time, beside a table that counts its rows by day (UTC) and filter columns. With the counts a
 * page is found by skipping whole days, so a deep page of ten million rows costs what the first one does; and the total
 * is their sum. All names are constants of the code.
 */
export interface DayCounted {
  readonly table: string;
  /** `<filter columns>, day date, rows bigint`; kept true by triggers (migrations/sql/count-days.ts). */
  readonly days: string;
  /** What may be filtered by; each value of a filter is an equality. */
  readonly filters: readonly string[];
  readonly columns: readonly string[];
  readonly direction: 'ASC' | 'DESC';
  /** `overlap`: what touches `[from, to)`, an interval being at most `longest` long. `start`: what begins in it. */
  readonly range: 'overlap' | 'start';
}

export interface DayCountedQuery {
  /** Column to value, or to several values; undefined means any. */
  readonly where: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Columns, and the values of which theirs together must be one row; or else one column's own value. */
  readonly oneOf?:
    | {
        readonly columns: readonly string[];
        readonly rows: readonly (readonly string[])[];
        readonly orElse?: { readonly column: string; readonly value: string };
      }
    | undefined;
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

/** No interval of such a table is longer: how far back one may begin that still overlaps. */
export const LONGEST_INTERVAL = '24 hours';
export const LONGEST_INTERVAL_MS = 86_400_000;

/** Instants as PostgreSQL's text: a JavaScript date would lose their microseconds. */
interface Place {
  readonly since: string | null;
  readonly until: string | null;
  readonly before: string;
  readonly total: string;
}

/** One page in order of `start_time, id`, and how many rows there are in all. */
export async function dayCountedPage<Row>(
  dataSource: DataSource,
  list: DayCounted,
  query: DayCountedQuery,
  page: PageRequest,
): Promise<{ rows: Row[]; total: number }> {
  const parameters: unknown[] = [query.from ?? null, query.to ?? null];
  const filter = filterSql(list, query, parameters);
  const [place] = await dataSource.query<Place[]>(placeSql(list, filter, parameters.length), [
    ...parameters,
    page.offset,
  ]);
  const total = Number(place?.total ?? 0);
  if (place === undefined || page.offset >= total) return { rows: [], total };
  const rows = await dataSource.query<Row[]>(pageSql(list, filter, parameters.length), [
    ...parameters,
    place.since,
    place.until,
    page.offset - Number(place.before),
    page.pageSize,
  ]);
  return { rows, total };
}

function filterSql(list: DayCounted, { where, oneOf }: DayCountedQuery, parameters: unknown[]): string {
  const counted = (column: string) => {
    if (!list.filters.includes(column)) throw new Error(`${list.days} does not count by ${column}`);
    return column;
  };
  const conditions = Object.entries(where).flatMap(([column, value]) => {
    if (value === undefined) return [];
    parameters.push(value);
    const place = `$${parameters.length}`;
    return [typeof value === 'string' ? `${counted(column)} = ${place}` : `${counted(column)} = ANY(${place})`];
  });
  if (oneOf !== undefined) {
    const values = oneOf.columns.map((_, i) => `$${parameters.push(oneOf.rows.map((row) => row[i]))}::text[]`);
    const given = oneOf.columns.map((column) => `${counted(column)}::text`);
    const isGiven = `(${given.join(', ')}) IN (SELECT * FROM unnest(${values.join(', ')}))`;
    const { orElse } = oneOf;
    const isElse = orElse === undefined ? '' : ` OR ${counted(orElse.column)} = $${parameters.push(orElse.value)}`;
    conditions.push(`(${isGiven}${isElse})`);
  }
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

const DAY_OF = (instant: string) => `(${instant} AT TIME ZONE 'UTC')::date`;
const START_OF = (day: string) => `(${day})::timestamp AT TIME ZONE 'UTC'`;

/** $1 from, $2 to, then the filter's, then the offset. Days that lie wholly in the range are counted already. */
function placeSql({ table, days, direction, range }: DayCounted, filter: string, before: number): string {
  const offset = `$${before + 1}`;
  return `
    WITH bounds AS (SELECT $1::timestamptz AS lower, $2::timestamptz AS upper),
    counted (since, until, rows) AS (
      ${
        range === 'overlap'
          ? `SELECT lower - interval '${LONGEST_INTERVAL}' AS since, lower AS until, (
               SELECT count(*) FROM ${table} WHERE ${filter} AND start_time >= lower - interval '${LONGEST_INTERVAL}'
               AND start_time < lower AND end_time > lower AND (upper IS NULL OR lower < upper)) AS rows
             FROM bounds WHERE lower IS NOT NULL UNION ALL`
          : ''
      }
      SELECT lower, least(${START_OF(`${DAY_OF('lower')} + 1`)}, upper), (
        SELECT count(*) FROM ${table} WHERE ${filter} AND start_time >= lower
        AND start_time < least(${START_OF(`${DAY_OF('lower')} + 1`)}, coalesce(upper, 'infinity')))
      FROM bounds WHERE lower IS NOT NULL
      UNION ALL
      SELECT ${START_OF('day')}, ${START_OF('day + 1')}, sum(rows) FROM ${days}, bounds
      WHERE ${filter} AND (lower IS NULL OR day > ${DAY_OF('lower')}) AND (upper IS NULL OR day < ${DAY_OF('upper')})
      GROUP BY day
      UNION ALL
      SELECT ${START_OF(DAY_OF('upper'))}, upper, (
        SELECT count(*) FROM ${table} WHERE ${filter} AND start_time >= ${START_OF(DAY_OF('upper'))} AND start_time < upper)
      FROM bounds WHERE upper IS NOT NULL AND (lower IS NULL OR ${DAY_OF('lower')} < ${DAY_OF('upper')})),
    placed AS (
      SELECT since, until, sum(rows) OVER (ORDER BY since ${direction}) - rows AS before, sum(rows) OVER () AS total
      FROM counted WHERE rows > 0)
    SELECT since::text, until::text, before::text, total::text FROM placed WHERE before <= ${offset} OR before = 0
    ORDER BY placed.before DESC LIMIT 1`;
}

/** $1 from, $2 to, then the filter's, then where the page's day begins and ends, rows to skip in it, rows to take. */
function pageSql({ table, columns, direction, range }: DayCounted, filter: string, before: number): string {
  const [since, until, skip, take] = [1, 2, 3, 4].map((n) => `$${before + n}`);
  const onwards = direction === 'ASC' ? `start_time >= ${since}::timestamptz` : `start_time < ${until}::timestamptz`;
  // The bound that this direction does not need is mentioned all the same: PostgreSQL must learn its parameter's type.
  const used = direction === 'ASC' ? `${until}::timestamptz` : `${since}::timestamptz`;
  const lower =
    range === 'overlap'
      ? `(start_time >= $1::timestamptz OR (end_time > $1::timestamptz AND start_time >= $1::timestamptz - interval '${LONGEST_INTERVAL}'))`
      : 'start_time >= $1::timestamptz';
  return `
    SELECT ${columns.join(', ')} FROM ${table}
    WHERE ${filter} AND ${onwards} AND (${used} IS NOT NULL OR true)
      AND ($1::timestamptz IS NULL OR ${lower}) AND ($2::timestamptz IS NULL OR start_time < $2::timestamptz)
    ORDER BY start_time ${direction}, id ${direction} OFFSET ${skip} LIMIT ${take}`;
}
