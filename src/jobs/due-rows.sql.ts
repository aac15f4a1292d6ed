import { identifier, type WorkKind } from './work-kind.js';

export interface DueRowsSql {
  readonly table: string;
  readonly renew: string;
  readonly fail: string;
  readonly giveBack: string;
  readonly oldest: string;
}

export interface ClaimSql {
  /** $1 how many, $2 the lease in milliseconds, $3 its token. */
  readonly text: string;
  /** Claims of this kind must not run at the same time: they count what is leased. */
  readonly serialised: boolean;
}

const all = (names: readonly string[], of?: string) =>
  names.map((name) => (of === undefined ? identifier(name) : `${of}.${identifier(name)}`)).join(', ');

const equal = (names: readonly string[], a: string, b: string) =>
  names.map((name) => `${a}.${identifier(name)} = ${b}.${identifier(name)}`).join(' AND ');

/** Statements over rows that are leased to this process; each writes only what is still held under its token. */
export function dueRowsSql(kind: WorkKind): DueRowsSql {
  const table = identifier(kind.table);
  const keys = Object.keys(kind.key);
  const types = [...Object.values(kind.key), 'uuid'];
  /** The leased rows as a table: key columns, token, place in the list. Its parameters follow `before` others. */
  const held = (before: number) =>
    `unnest(${types.map((type, i) => `$${before + i + 1}::${type}[]`).join(', ')})
     WITH ORDINALITY AS held (${all([...keys, 'lease_token', 'place'])})`;
  const mine = `${equal(keys, 't', 'held')} AND t.lease_token = held.lease_token`;
  const release = (before: number, set: string) =>
    `UPDATE ${table} AS t SET leased_until = NULL, lease_token = NULL, ${set} FROM ${held(before)} WHERE ${mine}`;
  return {
    table,
    // A row that the run's own transaction has locked is passed over, and is ours all the same: nobody can claim it.
    renew: `
      WITH held AS MATERIALIZED (SELECT * FROM ${held(1)}),
      free AS (SELECT ${all(keys, 't')} FROM ${table} AS t JOIN held ON ${mine} FOR UPDATE OF t SKIP LOCKED),
      renewed AS (
        UPDATE ${table} AS t SET leased_until = clock_timestamp() + $1::float8 * interval '1 ms'
        FROM free WHERE ${equal(keys, 't', 'free')})
      SELECT held.place::integer AS place FROM ${table} AS t JOIN held ON ${mine}`,
    fail: release(2, `last_error = $1, due_at = clock_timestamp() + $2::float8 * interval '1 ms'`),
    giveBack: release(0, 'attempts = t.attempts - 1'),
    oldest: `SELECT extract(epoch FROM now() - min(t.due_at))::float8 AS seconds FROM ${table} AS t WHERE ${isDue(kind)}`,
  };
}

/** One statement that leases due rows. What another claim holds just now is passed over, never waited for. */
export function claimSql(kind: WorkKind): ClaimSql {
  const keys = Object.keys(kind.key);
  const chosen = kind.group ? groupSql(kind, kind.group) : plainSql(kind);
  const taken = Object.entries(kind.claimed ?? {})
    .map(([column, sql]) => `, ${identifier(column)} = ${sql}`)
    .join('');
  const text = `
    WITH RECURSIVE ${chosen},
    claimed AS (
      UPDATE ${identifier(kind.table)} AS t
      SET leased_until = clock_timestamp() + $2::float8 * interval '1 ms', lease_token = $3::uuid, attempts = t.attempts + 1${taken}
      FROM due WHERE ${equal(keys, 't', 'due')}
      RETURNING ${all(columnsOf(kind), 'due')}, t.attempts AS due_row_attempts)
    SELECT ${all(handedOver(kind))}, due_row_attempts FROM claimed ORDER BY ${all(orderOf(kind))}`;
  return { text, serialised: kind.group !== undefined };
}

/** What a run gets of its row. */
const handedOver = (kind: WorkKind) => [...new Set([...Object.keys(kind.key), ...(kind.columns ?? [])])];

/** What is read of a row before it is claimed. */
const columnsOf = (kind: WorkKind) => [...new Set([...handedOver(kind), ...orderOf(kind)])];

/** Stands where `t` is the only table, so that the kind's own condition needs no alias. */
const isDue = ({ where }: WorkKind) =>
  `t.due_at <= now() AND (t.leased_until IS NULL OR t.leased_until <= now())${where === undefined ? '' : ` AND (${where})`}`;

const orderOf = (kind: WorkKind) => kind.order ?? ['due_at'];

function plainSql(kind: WorkKind): string {
  return `
    due AS (
      SELECT ${all(columnsOf(kind), 't')} FROM ${identifier(kind.table)} AS t WHERE ${isDue(kind)}
      ORDER BY ${all(orderOf(kind), 't')} LIMIT $1 FOR UPDATE SKIP LOCKED)`;
}

/**
 * The first due rows of every group that still has room. The groups are found by hopping through the index, so that a
 * group with a million rows waiting costs no more than one with ten.
 */
function groupSql(kind: WorkKind, group: { readonly by: string; readonly concurrency: number }): string {
  const table = identifier(kind.table);
  const by = identifier(group.by);
  const keys = Object.keys(kind.key);
  const room = `greatest(${Math.round(group.concurrency)} - coalesce((SELECT busy.rows FROM busy WHERE busy.${by} = groups.${by}), 0), 0)`;
  return `
    busy AS (
      SELECT ${by}, count(*) AS rows FROM ${table} WHERE leased_until > now() GROUP BY ${by}),
    groups AS (
      (SELECT ${by} FROM ${table} WHERE due_at IS NOT NULL ORDER BY ${by} LIMIT 1)
      UNION ALL
      SELECT (SELECT t.${by} FROM ${table} AS t WHERE t.due_at IS NOT NULL AND t.${by} > groups.${by} ORDER BY t.${by} LIMIT 1)
      FROM groups WHERE groups.${by} IS NOT NULL),
    chosen AS (
      SELECT ${all(keys, 'first')} FROM groups CROSS JOIN LATERAL (
        SELECT ${all([...new Set([...keys, ...orderOf(kind)])], 't')} FROM ${table} AS t
        WHERE t.${by} = groups.${by} AND ${isDue(kind)}
        ORDER BY ${all(orderOf(kind), 't')} LIMIT ${room}) AS first
      ORDER BY ${all(orderOf(kind), 'first')} LIMIT $1),
    due AS (
      SELECT ${all(columnsOf(kind), 't')} FROM ${table} AS t
      WHERE (${all(keys, 't')}) IN (SELECT ${all(keys)} FROM chosen) AND ${isDue(kind)}
      FOR UPDATE SKIP LOCKED)`;
}
