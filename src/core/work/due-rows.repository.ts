import type { Database } from '../database/database.js';
import type { Sql } from '../database/sql.js';
import type { OwnedLane } from './lanes.repository.js';
import { type Changes, type Next, RowLostError, type RowWrites, type Started } from './run.js';
import { identifier, type WorkKind } from './work-kind.js';

/** How the row of a failed attempt continues. */
export interface Failure {
  readonly lastError: string;
  /** Null: the row is not due again. */
  readonly delayMs: number | null;
  readonly isAttempt: boolean;
}

/**
 * For each kind whether it may have due rows: one statement for all kinds, because an idle instance runs it at every tick. With
 * EXISTS in place of an order, PostgreSQL would read tables from their start, where the oldest rows are.
 */
export async function mayBeDue(database: Sql, kinds: readonly WorkKind[]): Promise<boolean[]> {
  if (kinds.length === 0) return [];
  const conditions = kinds.map((kind) => {
    const due =
      kind.lanesSql === undefined
        ? `SELECT true FROM ${identifier(kind.table)} AS t WHERE ${isDueSql(kind)} ORDER BY t.due_at LIMIT 1`
        : `SELECT true FROM (${kind.lanesSql}) AS due LIMIT 1`;
    return `coalesce((${due}), false)`;
  });
  const row = await database.only<{ due: boolean[] }>(`SELECT ARRAY[${conditions.join(', ')}] AS due`);
  return row.due;
}

/** All statements over the due rows of one kind. The clock is the database's. */
export class DueRows implements RowWrites {
  private readonly table: string;
  private readonly keys: readonly string[];
  private readonly lanesSql: string;
  private readonly startSql: string;
  private readonly asStartedSql: string;
  private readonly fence: string;

  constructor(
    private readonly database: Database,
    readonly kind: WorkKind,
  ) {
    this.table = identifier(kind.table);
    this.keys = Object.keys(kind.key).map(identifier);
    this.lanesSql = kind.lanesSql ?? lanesSql(kind);
    this.startSql = startSql(kind);
    this.asStartedSql = asStartedSql(kind);
    this.fence = ['started_at', ...this.keys].map((column, i) => `${column} = $${i + 1}`).join(' AND ');
  }

  /** Lanes with due rows that nobody owns, at most `limit`, the most urgent first. */
  async lanes(limit: number): Promise<string[]> {
    const rows = await this.database.query<{ lane: string }>(
      `SELECT due.lane FROM (${this.lanesSql}) AS due
       WHERE NOT EXISTS (SELECT FROM lanes AS l WHERE l.kind = $1 AND l.lane = due.lane AND l.owned_until > now())
       ORDER BY due.urgency LIMIT $2`,
      [this.kind.name, limit],
    );
    return rows.map(({ lane }) => lane);
  }

  /** Starts at most `limit` due rows of a lane that this instance owns, in the order of the kind. */
  async start(owner: string, { kind, name, since }: OwnedLane, limit: number): Promise<Started[]> {
    const rows = await this.database.query<StartedRow>(this.startSql, [kind, name, owner, since, limit]);
    return rows.map(({ work_key: key, work_started_at: startedAt, work_attempt: attempt, ...row }) => {
      return { row, key, startedAt, attempt };
    });
  }

  /** Seconds for which the oldest row has been due without being worked on. */
  async oldestDue(): Promise<number> {
    const row = await this.database.only<{ age: number | null }>(
      `SELECT extract(epoch FROM now() - min(due.waiting_since))::float8 AS age FROM (${this.lanesSql}) AS due`,
      [],
    );
    return row.age ?? 0;
  }

  /** Records success and changes of other columns. Throws `RowLostError`. */
  async finish(started: Started, next: Next, set: Changes, transaction?: Sql): Promise<void> {
    const dueAt = typeof next === 'object' && 'at' in next ? next.at : null;
    const delayMs = typeof next === 'object' && 'afterMs' in next ? next.afterMs : null;
    const ended = { ...ENDED, attempts: 0, last_error: null };
    await this.update(started, { ...ended, due_at: { dueAt, delayMs }, ...set }, transaction);
  }

  /** Changes columns of a row that is still worked on. Throws `RowLostError`. */
  async update(started: Started, set: Changes, transaction?: Sql): Promise<void> {
    const values: unknown[] = this.fenceOf(started);
    const assignments = Object.entries(set).map(([column, value]) => {
      if (!isDue(value)) return `${identifier(column)} = $${values.push(value)}`;
      const [at, delay] = [values.push(value.dueAt), values.push(value.delayMs)];
      return `${column} = coalesce($${at}::timestamptz, clock_timestamp() + $${delay}::float8 * interval '1 ms')`;
    });
    const sql = `UPDATE ${this.table} SET ${assignments.join(', ')} WHERE ${this.fence}`;
    // Alone, the columns of a kind are the same in each run: a fixed set of texts.
    const prepared = transaction === undefined;
    const written = await (transaction ?? this.database).change(sql, values, { prepared });
    if (written === 0) throw new RowLostError(this.kind.name);
  }

  /** Locks the row until the end of the transaction. Throws `RowLostError`. */
  async hold(started: Started, transaction: Sql): Promise<void> {
    const rows = await transaction.query(
      `SELECT 1 FROM ${this.table} WHERE ${this.fence} FOR UPDATE`,
      this.fenceOf(started),
    );
    if (rows.length === 0) throw new RowLostError(this.kind.name);
  }

  /** The rows that are still as they were started. The others were cancelled, or another instance has them. */
  async asStarted<S extends Started>(started: readonly S[]): Promise<Set<S>> {
    const keyOf = ({ key }: Started) => Object.fromEntries(this.keys.map((column, i) => [column, key[i]]));
    const own = started.map((one, n) => ({ n, started_at: one.startedAt, ...keyOf(one) }));
    const rows = await this.database.query<{ n: number }>(this.asStartedSql, [JSON.stringify(own)]);
    return new Set(rows.map(({ n }) => started[n]).filter((one) => one !== undefined));
  }

  /** Records a failed attempt. */
  async fail(started: Started, { lastError, delayMs, isAttempt }: Failure): Promise<void> {
    const attempts = started.attempt - (isAttempt ? 0 : 1);
    const set = { ...ENDED, last_error: lastError, due_at: { dueAt: null, delayMs }, attempts };
    await ifOwned(this.update(started, set));
  }

  /** Ends unfinished work at a stop: the row is due at once, and the attempt does not count. */
  async release(started: Started): Promise<void> {
    await ifOwned(this.update(started, { ...ENDED, attempts: started.attempt - 1 }));
  }

  private fenceOf({ key, startedAt }: Started): unknown[] {
    return [startedAt, ...key];
  }
}

/** `WorkKind.lanesSql` of a kind that has none of its own. */
function lanesSql(kind: WorkKind): string {
  const [table, lane] = [identifier(kind.table), identifier(kind.lane.by)];
  return `
    SELECT t.${lane}::text AS lane, min(t.${orderOf(kind)}) AS urgency,
      min(t.due_at) FILTER (WHERE t.started_at IS NULL) AS waiting_since
    FROM ${table} AS t WHERE ${isDueSql(kind)} GROUP BY t.${lane}`;
}

/**
 * $1 the kind, $2 the lane, $3 the owner, $4 since when it owns the lane, $5 the limit. A row that an earlier owner of the lane
 * has started is started again.
 */
function startSql(kind: WorkKind): string {
  const [table, lane, order] = [identifier(kind.table), identifier(kind.lane.by), orderOf(kind)];
  const keys = Object.keys(kind.key).map(identifier);
  return `
    WITH due AS (
      SELECT t.* FROM ${table} AS t
      WHERE t.${lane} = $2::text::uuid AND ${isDueSql(kind)}
        AND (t.started_at IS NULL OR t.started_at < $4::timestamptz)
        AND EXISTS (SELECT FROM lanes AS l
          WHERE l.kind = $1 AND l.lane = $2 AND l.owner = $3 AND l.owned_until > clock_timestamp())
      ORDER BY t.${order} LIMIT $5 FOR UPDATE OF t SKIP LOCKED)
    UPDATE ${table} AS t SET started_at = clock_timestamp(), attempts = t.attempts + 1
    FROM due WHERE (${list(keys, 't')}) = (${list(keys, 'due')})
    RETURNING due.*, ARRAY[${keys.map((key) => `due.${key}::text`).join(', ')}] AS work_key,
      t.started_at::text AS work_started_at, t.attempts AS work_attempt`;
}

/** $1 rows in work, as JSON with their places `n`. */
function asStartedSql({ table, key }: WorkKind): string {
  const keys = Object.keys(key).map(identifier);
  return `
    SELECT own.n FROM json_to_recordset($1)
      AS own (n integer, started_at timestamptz, ${keys.map((column) => `${column} ${key[column]}`).join(', ')})
    JOIN ${identifier(table)} AS t USING (started_at, ${keys.join(', ')})`;
}

type StartedRow = object & {
  readonly work_key: string[];
  readonly work_started_at: string;
  readonly work_attempt: number;
};

const ENDED = { started_at: null };

interface Due {
  readonly dueAt: Date | null;
  readonly delayMs: number | null;
}

const isDue = (value: unknown): value is Due => typeof value === 'object' && value !== null && 'dueAt' in value;

/** A row that was lost meanwhile stays as it is. */
const ifOwned = (write: Promise<void>): Promise<void> =>
  write.catch((error: unknown) => {
    if (!(error instanceof RowLostError)) throw error;
  });

/** `t` must be the only table in scope, so that the kind's own condition needs no alias. */
const isDueSql = ({ where }: WorkKind): string =>
  where === undefined ? 't.due_at <= now()' : `t.due_at <= now() AND (${where})`;

const orderOf = (kind: WorkKind): string => identifier(kind.order ?? 'due_at');

const list = (names: readonly string[], alias: string): string => names.map((name) => `${alias}.${name}`).join(', ');
