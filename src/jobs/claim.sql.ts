import { identifier, type JobKind } from './job-kind.js';

/**
 * One statement that leases due rows and skips rows that another claim has locked.
 * $1 limit, $2 lease in milliseconds, $3 lease token; for a kind with a group $4, the group at which the last walk ended,
 * or null. Returns at least one row, for `walked_to`; without a claimed row its other columns are null.
 */
export function claimSql(kind: JobKind): string {
  const keys = Object.keys(kind.key);
  const changes = Object.entries(kind.setOnClaim ?? {}).map(([column, sql]) => `, ${identifier(column)} = ${sql}`);
  return `
    WITH RECURSIVE ${kind.group ? groupedDueSql(kind, kind.group) : dueSql(kind)},
    claimed AS (
      UPDATE ${identifier(kind.table)} AS t
      SET leased_until = clock_timestamp() + $2::float8 * interval '1 ms', lease_token = $3::uuid,
        attempts = t.attempts + 1${changes.join('')}
      FROM due WHERE ${equal(keys, 't', 'due')}
      RETURNING ${list(readColumns(kind), 'due')}, t.attempts AS due_row_attempts)
    SELECT ${list(rowColumns(kind))}, due_row_attempts,
      ${kind.group ? `(SELECT ${identifier(kind.group.by)} FROM groups ORDER BY steps DESC LIMIT 1)` : 'NULL'} AS walked_to
    FROM (SELECT) AS one LEFT JOIN claimed ON true ORDER BY ${list(orderOf(kind))}`;
}

/** Rows at the head of the order that a claim of a kind with a group reads before it looks at single groups. */
const HEAD_ROWS = 100;
/** Groups that a claim looks at beyond the head. */
const MAX_GROUPS = 32;

/** Seconds for which the oldest row has been due without a lease; null if none is. */
export function oldestSql(kind: JobKind): string {
  const free = `SELECT t.due_at FROM ${identifier(kind.table)} AS t
      WHERE t.due_at IS NOT NULL AND t.leased_until IS NULL${andSelected(kind)} ORDER BY t.due_at LIMIT 1`;
  const oldest = (rows: string) => `(SELECT min(o.due_at) FROM (${rows}) AS o WHERE o.due_at <= now())`;
  return `extract(epoch FROM now() - least(${oldest(free)}, ${oldest(expiredSql(kind, ['due_at']))}))::float8`;
}

/** Whether a claim may find rows. True without looking further if the whole head of the order is due later. */
export function isAnyDueSql(kind: JobKind): string {
  const isDueIn = (rows: string) => `EXISTS (SELECT FROM (${rows}) AS h WHERE h.due_at <= now())`;
  const head = headSql(kind, ['due_at']);
  const isHeadFull = `(SELECT count(*) FROM (${head}) AS h) = ${HEAD_ROWS}`;
  return `(${isDueIn(head)} OR ${isDueIn(expiredSql(kind, ['due_at']))}${isOrderedByTime(kind) ? '' : ` OR ${isHeadFull}`})`;
}

/** The first rows of the order without a lease. Where time is the order, only those that are due. */
function headSql(kind: JobKind, columns: readonly string[]): string {
  return `SELECT ${list(columns, 't')} FROM ${identifier(kind.table)} AS t
      WHERE t.due_at ${isOrderedByTime(kind) ? '<= now()' : 'IS NOT NULL'} AND t.leased_until IS NULL${andSelected(kind)}
      ORDER BY ${list(orderOf(kind), 't')} LIMIT ${HEAD_ROWS}`;
}

/** Rows whose owner was killed. */
function expiredSql(kind: JobKind, columns: readonly string[]): string {
  return `SELECT ${list(columns, 't')} FROM ${identifier(kind.table)} AS t WHERE t.leased_until <= now()${andSelected(kind)}
      ORDER BY t.leased_until LIMIT ${HEAD_ROWS}`;
}

function dueSql(kind: JobKind): string {
  return `
    due AS (
      SELECT ${list(readColumns(kind), 't')} FROM ${identifier(kind.table)} AS t WHERE ${isDue(kind)}
      ORDER BY ${list(orderOf(kind), 't')} LIMIT $1 FOR UPDATE SKIP LOCKED)`;
}

/**
 * The first due rows of groups that have room. The cost does not depend on the number of groups or rows:
 * - `head`: the first rows of the order. They are enough unless most of them belong to groups without room.
 * - `walk`: if the head is not enough, the first rows of the next `MAX_GROUPS` groups after $4, by the index of groups.
 *   Each walk continues where the last one ended, so every group has its turn, and a group with a million rows delays no
 *   other. A random $4 would not do: ids begin with their time, so most random ones are greater than all of them.
 *
 * Each part matches the predicate of one index only. Otherwise PostgreSQL preferred another index of due rows if its
 * statistics were from a time without due rows, and read all of them. Therefore `due` locks the rows by their key.
 */
function groupedDueSql(kind: JobKind, group: { readonly by: string; readonly concurrency: number }): string {
  const table = identifier(kind.table);
  const by = identifier(group.by);
  const keys = Object.keys(kind.key);
  const order = orderOf(kind);
  const columns = [...new Set([...keys, group.by, ...order, 'due_at', 'leased_until'])];
  const fitting = (candidates: string) => `
      SELECT ${list(columns, 'c')} FROM (
        SELECT c.*, row_number() OVER (PARTITION BY ${by} ORDER BY ${list(order)}) AS place FROM (${candidates}) AS c) AS c
      LEFT JOIN busy ON busy.${by} = c.${by}
      WHERE c.place <= ${Math.round(group.concurrency)} - coalesce(busy.rows, 0)`;
  const firstGroup = (condition: string) =>
    `(SELECT t.${by} FROM ${table} AS t WHERE t.due_at IS NOT NULL${condition} ORDER BY t.${by} LIMIT 1)`;
  return `
    busy AS (
      SELECT ${by}, count(*) AS rows FROM ${table} WHERE leased_until > now() GROUP BY ${by}),
    head AS (${headSql(kind, columns)}),
    expired AS (${expiredSql(kind, columns)}),
    near AS (SELECT * FROM head WHERE due_at <= now() UNION ALL SELECT * FROM expired WHERE due_at <= now()),
    groups (${by}, start, steps) AS (
      SELECT first.${by}, first.${by}, 1
      FROM (SELECT coalesce(${firstGroup(` AND t.${by} > $4`)}, ${firstGroup('')}) AS ${by}) AS first
      WHERE (SELECT count(*) FROM head) = ${HEAD_ROWS} AND (SELECT count(*) FROM (${fitting('SELECT * FROM near')}) AS f) < $1
      UNION ALL
      SELECT next.${by}, groups.start, groups.steps + 1 FROM groups
      CROSS JOIN LATERAL (SELECT coalesce(${firstGroup(` AND t.${by} > groups.${by}`)}, ${firstGroup('')}) AS ${by}) AS next
      WHERE groups.steps < ${MAX_GROUPS} AND next.${by} <> groups.start),
    walk AS (
      SELECT first.* FROM groups CROSS JOIN LATERAL (
        SELECT ${list(columns, 't')} FROM ${table} AS t WHERE t.${by} = groups.${by} AND ${isDue(kind)}
        ORDER BY ${list(order, 't')} LIMIT ${Math.round(group.concurrency)}) AS first),
    chosen AS (${fitting('SELECT * FROM near UNION SELECT * FROM walk')}
      ORDER BY ${list(order, 'c')} LIMIT $1),
    due AS (
      SELECT locked.* FROM chosen CROSS JOIN LATERAL (
        SELECT ${list(readColumns(kind), 't')} FROM ${table} AS t
        WHERE ${equal(keys, 't', 'chosen')} AND t.due_at IS NOT DISTINCT FROM chosen.due_at
          AND t.leased_until IS NOT DISTINCT FROM chosen.leased_until${andSelected(kind)}
        FOR UPDATE SKIP LOCKED) AS locked)`;
}

const isDue = (kind: JobKind) =>
  `t.due_at <= now() AND (t.leased_until IS NULL OR t.leased_until <= now())${andSelected(kind)}`;

/** `t` must be the only table in scope, so that the kind's own condition needs no alias. */
const andSelected = ({ where }: JobKind) => (where === undefined ? '' : ` AND (${where})`);

const isOrderedByTime = (kind: JobKind) => orderOf(kind)[0] === 'due_at';

const orderOf = (kind: JobKind) => kind.order ?? ['due_at'];

/** The columns of `run.row`. */
const rowColumns = (kind: JobKind) => [...new Set([...Object.keys(kind.key), ...(kind.columns ?? [])])];

/** The columns that a claim reads. */
const readColumns = (kind: JobKind) => [...new Set([...rowColumns(kind), ...orderOf(kind)])];

/** Names of columns, of the table `alias` if there is one. */
export const list = (names: readonly string[], alias?: string) =>
  names.map((name) => (alias === undefined ? identifier(name) : `${alias}.${identifier(name)}`)).join(', ');

export const equal = (names: readonly string[], a: string, b: string) =>
  names.map((name) => `${a}.${identifier(name)} = ${b}.${identifier(name)}`).join(' AND ');
