import type { DataSource } from 'typeorm';
import type { Instant } from '../contracts/common/instant.js';
import type { PageRequest } from '../contracts/common/pagination.dto.js';

/**
 * A table of time intervals, and a table that counts its rows by day (UTC) and filter columns. A query finds its page by
 * skipping whole days, so that a deep page of ten million rows takes as long as the first; the total is the sum of the
 * counts. All names are constants of the code.
 */
export interface DayCounted {
  readonly table: string;
  /** Columns: `<filter columns>, day date, rows bigint`. Triggers maintain it (migrations/sql/count-days.ts). */
  readonly days: string;
  /** Columns that a query may filter by equality. */
  readonly filters: readonly string[];
  readonly columns: readonly string[];
  readonly direction: 'ASC' | 'DESC';
  /** `overlap`: intervals that overlap `[from, to)`. `start`: intervals that begin in it. */
  readonly range: 'overlap' | 'start';
}

export interface DayCountedQuery {
  /** A value or several values for each column; undefined means any. */
  readonly where: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The columns together must equal one of the rows, or the column of `orElse` must equal its value. */
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

/** Maximum length of an interval, so that a query for overlaps knows how far back to look. */
export const MAX_INTERVAL = '24 hours';
export const MAX_INTERVAL_MS = 86_400_000;

/** The day on which the page begins. Instants are text of PostgreSQL, because a `Date` would lose microseconds. */
interface PageDay {
  readonly since: string | null;
  readonly until: string | null;
  readonly before: string;
  readonly total: string;
}

/** One page in the order of `start_time, id`, and the total number of rows. */
export async function dayCountedPage<Row>(
  dataSource: DataSource,
  list: DayCounted,
  query: DayCountedQuery,
  page: PageRequest,
): Promise<{ rows: Row[]; total: number }> {
  const parameters: unknown[] = [query.from ?? null, query.to ?? null];
  const filter = filterSql(list, query, parameters);
  const [day] = await dataSource.query<PageDay[]>(pageDaySql(list, filter, parameters.length), [
    ...parameters,
    page.offset,
  ]);
  const total = Number(day?.total ?? 0);
  if (day === undefined || page.offset >= total) return { rows: [], total };
  const rows = await dataSource.query<Row[]>(pageSql(list, filter, parameters.length), [
    ...parameters,
    day.since,
    day.until,
    page.offset - Number(day.before),
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
    const parameter = `$${parameters.length}`;
    return [typeof value === 'string' ? `${counted(column)} = ${parameter}` : `${counted(column)} = ANY(${parameter})`];
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

/** Parameters: $1 from, $2 to, those of the filter, the offset. Only days that are partly in the range are counted here. */
function pageDaySql({ table, days, direction, range }: DayCounted, filter: string, before: number): string {
  const offset = `$${before + 1}`;
  return `
    WITH bounds AS (SELECT $1::timestamptz AS lower, $2::timestamptz AS upper),
    counted (since, until, rows) AS (
      ${
        range === 'overlap'
          ? `SELECT lower - interval '${MAX_INTERVAL}' AS since, lower AS until, (
               SELECT count(*) FROM ${table} WHERE ${filter} AND start_time >= lower - interval '${MAX_INTERVAL}'
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

/** Parameters: $1 from, $2 to, those of the filter, start and end of the day, rows to skip in it, page size. */
function pageSql({ table, columns, direction, range }: DayCounted, filter: string, before: number): string {
  const [since, until, skip, take] = [1, 2, 3, 4].map((n) => `$${before + n}`);
  const onwards = direction === 'ASC' ? `start_time >= ${since}::timestamptz` : `start_time < ${until}::timestamptz`;
  // The unused bound appears too, because PostgreSQL must infer the type of its parameter.
  const used = direction === 'ASC' ? `${until}::timestamptz` : `${since}::timestamptz`;
  const lower =
    range === 'overlap'
      ? `(start_time >= $1::timestamptz OR (end_time > $1::timestamptz AND start_time >= $1::timestamptz - interval '${MAX_INTERVAL}'))`
      : 'start_time >= $1::timestamptz';
  return `
    SELECT ${columns.join(', ')} FROM ${table}
    WHERE ${filter} AND ${onwards} AND (${used} IS NOT NULL OR true)
      AND ($1::timestamptz IS NULL OR ${lower}) AND ($2::timestamptz IS NULL OR start_time < $2::timestamptz)
    ORDER BY start_time ${direction}, id ${direction} OFFSET ${skip} LIMIT ${take}`;
}
