import { minUuidv7Of } from './uuid.js';

/** A table that grows with time, and how it is divided by it. All names are constants of the code. */
export interface PartitionedTable {
  readonly name: string;
  readonly unit: 'day' | 'month';
  /** The column of the partition key: a time, or a UUIDv7, which begins with one. */
  readonly column: string;
  readonly type: 'timestamptz' | 'uuid';
  /** Partitions of days or months after the current one that are created by the clock. */
  readonly ahead: number;
  /** Partitions of days or months before the current one that are created for rows of that time. */
  readonly behind: number;
  /** The default partition, which takes the rows of all other times: a partner may send the year 1970 or 2999. */
  readonly rest: string | undefined;
}

/** Each table has at most `behind + ahead + 1` partitions, and the one of the rest. */
export const PARTITIONED = {
  exchanges: { name: 'exchanges', unit: 'day', column: 'id', type: 'uuid', ahead: 3, behind: 3_650, rest: undefined },
  revisions: {
    name: 'ticket_revisions',
    unit: 'month',
    column: 'ticket_id',
    type: 'uuid',
    ahead: 2,
    behind: 120,
    rest: 'ticket_revisions_rest',
  },
  recordings: {
    name: 'recordings',
    unit: 'month',
    column: 'start_time',
    type: 'timestamptz',
    ahead: 2,
    behind: 120,
    rest: 'recordings_rest',
  },
} as const satisfies Record<string, PartitionedTable>;

/** The rows of `[from, to)`; both as PostgreSQL reads values of the column. */
export interface Partition {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** The start of the day or month (UTC) that is `step` after the one of a time. */
function startOf(unit: PartitionedTable['unit'], time: number, step: number): Date {
  const at = new Date(time);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  return new Date(unit === 'day' ? Date.UTC(year, month, day + step) : Date.UTC(year, month + step, 1));
}

function partitionAt({ name, unit, type }: PartitionedTable, start: Date): Partition {
  const bound = (at: Date) => (type === 'uuid' ? smallestUuidOf(at) : at.toISOString());
  const day = start.toISOString().slice(0, 10).replaceAll('-', '');
  return {
    name: `${name}_${unit === 'day' ? day : day.slice(0, 6)}`,
    from: bound(start),
    to: bound(startOf(unit, start.getTime(), 1)),
  };
}

/** The partition of this name, if all its times are before another; undefined for that of the rest. */
export function partitionNamed(table: PartitionedTable, name: string, before: number): Partition | undefined {
  const found = /_(\d{4})(\d\d)(\d\d)?$/.exec(name);
  if (found === null) return undefined;
  const [, year = '', month = '', day = '01'] = found;
  const start = Date.parse(`${year}-${month}-${day}`);
  return startOf(table.unit, start, 1).getTime() < before ? partitionAt(table, new Date(start)) : undefined;
}

/** Below each UUID that begins with this time, of any version. */
const smallestUuidOf = (at: Date): string => `${minUuidv7Of(at.getTime()).slice(0, 14)}0000-0000-000000000000`;

/** The current partition and those ahead of it. */
export const plannedPartitions = (table: PartitionedTable, now: number): Partition[] =>
  Array.from({ length: table.ahead + 1 }, (_, step) => partitionAt(table, startOf(table.unit, now, step)));

/** The months (UTC) of a range of times, as the bounds of partitions by month: all rows of those meet a condition with them. */
export const monthsOf = (first: number, last: number): readonly [from: Date, to: Date] => [
  startOf('month', first, 0),
  startOf('month', last, 1),
];

/** The partition of a time; undefined where the table has none of its own for it. */
export function partitionOf(table: PartitionedTable, time: number, now: number): Partition | undefined {
  const first = startOf(table.unit, now, -table.behind).getTime();
  const end = startOf(table.unit, now, table.ahead + 1).getTime();
  return time >= first && time < end ? partitionAt(table, startOf(table.unit, time, 0)) : undefined;
}
