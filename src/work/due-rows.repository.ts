import type { DataSource, EntityManager } from 'typeorm';
import type { Session } from '../database/session.js';
import { onConnection } from '../database/transaction.js';
import type { OwnedLane } from './lanes.repository.js';
import { type Also, type Changes, type Next, RowLostError } from './run.js';
import { identifier, type WorkKind } from './work-kind.js';

/** A row on which this instance works. */
export interface Started {
  readonly row: object;
  /** Its primary key, as PostgreSQL reads it. */
  readonly key: readonly string[];
  readonly lane: string;
  /** The state that was read: every write of the run happens only while the row has it. */
  readonly startedAt: string;
  /** From 1: the number of attempts since the row last succeeded, this one included. */
  readonly attempt: number;
}

/** How the row of a failed attempt continues. */
export interface Failure {
  readonly lastError: string;
  /** Null: the row is not due again. */
  readonly delayMs: number | null;
  readonly isAttempt: boolean;
}

/** A lane with the number of its rows that may be started. */
export interface Room {
  readonly owned: OwnedLane;
  readonly room: number;
}

/**
 * For each kind whether it may have due rows: one statement for all kinds, because an idle instance runs it at every tick. With
 * EXISTS in place of an order, PostgreSQL would read tables from their start, where the oldest rows are.
 */
export async function mayBeDue(dataSource: DataSource, kinds: readonly WorkKind[]): Promise<boolean[]> {
  if (kinds.length === 0) return [];
  const conditions = kinds.map((kind) => {
    const due = `SELECT true FROM ${identifier(kind.table)} AS t WHERE t.due_at <= now()${andSelected(kind)}`;
    return `coalesce((${kind.backlog?.mayBeDueSql ?? `${due} ORDER BY t.due_at LIMIT 1`}), false)`;
  });
  const [row] = await dataSource.query<[{ due: boolean[] }]>(`SELECT ARRAY[${conditions.join(', ')}] AS due`);
  return row.due;
}

/** All statements over the due rows of one kind. The clock is the database's. */
export class DueRows {
  private readonly table: string;
  private readonly keys: readonly string[];
  private readonly lanesStatement: string;
  private readonly startStatement: string;
  private readonly fence: string;

  constructor(
    private readonly dataSource: DataSource,
    readonly kind: WorkKind,
  ) {
    this.table = identifier(kind.table);
    this.keys = Object.keys(kind.key).map(identifier);
    this.lanesStatement = this.lanesSql();
    this.startStatement = this.startSql();
    this.fence = ['started_at', ...this.keys].map((column, i) => `${column} = $${i + 1}`).join(' AND ');
  }

  /** Lanes with due rows that nobody owns, at most `limit`, the most urgent first. */
  async lanes(limit: number): Promise<string[]> {
    const { backlog, name } = this.kind;
    if (backlog !== undefined) return backlog.lanes(name, limit);
    const rows = await this.query<{ lane: string }[]>(this.lanesStatement, [name, limit]);
    return rows.map((row) => row.lane);
  }

  /** Starts at most `limit` due rows of lanes that this instance owns, in the order of the kind. */
  async start(owner: string, lanes: readonly Room[], limit: number): Promise<Started[]> {
    const rows = await this.query<StartedRow[]>(this.startStatement, [
      this.kind.name,
      owner,
      lanes.map(({ owned }) => owned.lane),
      lanes.map(({ owned }) => owned.since),
      lanes.map(({ room }) => room),
      limit,
    ]);
    return rows.map(({ work_key: key, work_lane: lane, work_started_at: startedAt, work_attempt: attempt, ...row }) => {
      return { row, key, lane, startedAt, attempt };
    });
  }

  /** Seconds for which the oldest row has been due without being worked on. */
  async oldestDue(): Promise<number> {
    if (this.kind.backlog !== undefined) return (await this.kind.backlog.oldestDue()) ?? 0;
    const [row] = await this.query<[{ age: number | null }]>(
      `SELECT extract(epoch FROM now() - min(due_at))::float8 AS age FROM ${this.table} AS t
       WHERE due_at <= now() AND started_at IS NULL${andSelected(this.kind)}`,
      [],
    );
    return row.age ?? 0;
  }

  /** Records success and changes of other columns. Throws `RowLostError`. */
  async finish(started: Started, { next, set, also }: End, manager?: EntityManager): Promise<void> {
    const dueAt = typeof next === 'object' && 'at' in next ? next.at : null;
    const delayMs = typeof next === 'object' && 'afterMs' in next ? next.afterMs : null;
    const ended = { ...ENDED, attempts: 0, last_error: null };
    await this.write(started, { ...ended, due_at: { dueAt, delayMs }, ...set }, manager, also);
  }

  /** Changes columns of a row that is still worked on. Throws `RowLostError`. */
  async update(started: Started, set: Changes, manager?: EntityManager): Promise<void> {
    await this.write(started, set, manager);
  }

  /** Locks the row until the end of the transaction. Throws `RowLostError`. */
  async hold(started: Started, manager: EntityManager): Promise<void> {
    const rows = await manager.query<unknown[]>(
      `SELECT 1 FROM ${this.table} WHERE ${this.fence} FOR UPDATE`,
      this.fenceOf(started),
    );
    if (rows.length === 0) throw new RowLostError(this.kind.name);
  }

  /** The rows that are still as they were started. The others were cancelled, or another instance has them. */
  async held<S extends Started>(started: readonly S[]): Promise<Set<S>> {
    const types = ['timestamptz', ...Object.values(this.kind.key)];
    const columns = ['started_at', ...this.keys];
    const rows = await this.query<{ place: number }[]>(
      `SELECT own.place::integer AS place
       FROM unnest(${types.map((type, i) => `$${i + 1}::${type}[]`).join(', ')}) WITH ORDINALITY AS own (${columns.join(', ')}, place)
       JOIN ${this.table} AS t ON ${columns.map((column) => `t.${column} = own.${column}`).join(' AND ')}`,
      types.map((_, column) => started.map((one) => this.fenceOf(one)[column])),
    );
    return new Set(rows.map(({ place }) => started[place - 1]).filter((one) => one !== undefined));
  }

  /** Records a failed attempt. */
  async fail(started: Started, { lastError, delayMs, isAttempt }: Failure): Promise<void> {
    const attempts = started.attempt - (isAttempt ? 0 : 1);
    const set = { ...ENDED, last_error: lastError, due_at: { dueAt: null, delayMs }, attempts };
    await ifOwned(this.write(started, set));
  }

  /** Ends unfinished work at a stop: the row is due at once, and the attempt does not count. */
  async release(started: Started): Promise<void> {
    await ifOwned(this.write(started, { ...ENDED, attempts: started.attempt - 1 }));
  }

  private async write(started: Started, set: Changes, manager?: EntityManager, also?: Also): Promise<void> {
    const values: unknown[] = this.fenceOf(started);
    const assignments = Object.entries(set).map(([column, value]) => {
      if (!isDue(value)) return `${identifier(column)} = $${values.push(value)}`;
      const [at, delay] = [values.push(value.dueAt), values.push(value.delayMs)];
      return `${column} = coalesce($${at}::timestamptz, clock_timestamp() + $${delay}::float8 * interval '1 ms')`;
    });
    const update = `UPDATE ${this.table} SET ${assignments.join(', ')} WHERE ${this.fence} RETURNING 1`;
    const others = also === undefined ? '' : `, ${also.sql(`$${values.push(also.value)}`)}`;
    const sql = `WITH written AS (${update})${others} SELECT 1 FROM written`;
    if ((await this.written(sql, values, manager)) === 0) throw new RowLostError(this.kind.name);
  }

  private async written(sql: string, values: unknown[], manager?: EntityManager): Promise<number> {
    if (manager !== undefined) return (await manager.query<unknown[]>(sql, values)).length;
    // Prepared, as each download ends with it: the database spends 15 % less per download.
    const write = (session: Session) => session.query<unknown[]>(sql, values);
    return (await onConnection(this.dataSource, write, { prepared: true })).length;
  }

  /** Not prepared: a plan that was made while the table was nearly empty would read all of it later. */
  private query<Rows>(sql: string, parameters: unknown[]): Promise<Rows> {
    return onConnection(this.dataSource, (session) => session.query<Rows>(sql, parameters));
  }

  private fenceOf({ key, startedAt }: Started): unknown[] {
    return [startedAt, ...key];
  }

  /** $1 the kind, $2 the limit. */
  private lanesSql(): string {
    const { lane } = this.kind;
    const by = `t.${identifier(lane.by)}`;
    return `
      SELECT ${by}::text AS lane FROM ${this.table} AS t
      WHERE t.due_at <= now()${andSelected(this.kind)} AND NOT EXISTS (
        SELECT FROM lanes WHERE lanes.kind = $1 AND lanes.lane = ${by}::text AND lanes.owned_until > now())
      GROUP BY ${by} ORDER BY ${orderOf(this.kind)
        .map((column) => `min(t.${column})`)
        .join(', ')} LIMIT $2`;
  }

  /**
   * $1 the kind, $2 the owner, $3 lanes, $4 since when each is owned, $5 the room of each, $6 the limit. A row that an earlier
   * owner of the lane has started is started again.
   */
  private startSql(): string {
    const { lane, columns = [] } = this.kind;
    const by = identifier(lane.by);
    const read = [...new Set([...this.keys, ...columns])].map(identifier);
    const order = orderOf(this.kind);
    const found = [...new Set([by, ...read, ...order])];
    return `
      WITH due AS (
        SELECT t.* FROM unnest($3::text[], $4::timestamptz[], $5::integer[]) AS own (lane, since, room)
        JOIN lanes AS l ON l.kind = $1 AND l.owner = $2 AND l.lane = own.lane AND l.owned_until > clock_timestamp()
        CROSS JOIN LATERAL (
          SELECT ${list(found, 't')} FROM ${this.table} AS t
          WHERE t.${by} = own.lane::${lane.type} AND t.due_at <= now()
            AND (t.started_at IS NULL OR t.started_at < own.since)${andSelected(this.kind)}
          ORDER BY ${list(order, 't')} LIMIT own.room FOR UPDATE OF t SKIP LOCKED) AS t
        ORDER BY ${list(order, 't')} LIMIT $6)
      UPDATE ${this.table} AS t SET started_at = clock_timestamp(), attempts = t.attempts + 1
      FROM due WHERE ${this.keys.map((key) => `t.${key} = due.${key}`).join(' AND ')}
      RETURNING ${list(read, 'due')}, ARRAY[${this.keys.map((key) => `due.${key}::text`).join(', ')}] AS work_key,
        due.${by}::text AS work_lane, t.started_at::text AS work_started_at,
        t.attempts AS work_attempt`;
  }
}

/** The last write of a run. */
interface End {
  readonly next: Next;
  readonly set: Changes;
  readonly also: Also | undefined;
}

type StartedRow = object & {
  readonly work_key: string[];
  readonly work_lane: string;
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
const andSelected = ({ where, key }: WorkKind) =>
  (where === undefined ? '' : ` AND (${where})`) + ('hauler_id' in key ? STAYING : '');

/** Nothing of a hauler is worked on while it moves to another cell. */
const STAYING =
  " AND NOT EXISTS (SELECT FROM hauler_moves AS m WHERE m.hauler_id = t.hauler_id AND m.state <> 'imported')";

const orderOf = (kind: WorkKind) => (kind.order ?? ['due_at']).map(identifier);

const list = (names: readonly string[], alias: string) => names.map((name) => `${alias}.${name}`).join(', ');
