import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Reference } from '../contracts/common/references.js';
import { INTERFACES, type InterfaceName } from '../contracts/common/api-contract.js';
import { inTransaction } from '../database/transaction.js';
import { leastUuidv7Of } from '../database/uuid.js';
import type { Direction } from './exchange-record.js';

export interface ExchangeFilter {
  readonly direction?: Direction | undefined;
  readonly interface?: InterfaceName | undefined;
  readonly haulerId?: string | undefined;
  readonly connectionId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  /** First and last; 0 without a response. */
  readonly status?: readonly [number, number] | undefined;
  readonly errorCode?: string | undefined;
  readonly requestId?: string | undefined;
  readonly reference?: Reference | undefined;
  /** Milliseconds since the epoch; the first is included, the second is not. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Exchanges older than this one. */
  readonly before?: string | undefined;
}

const DIRECTIONS: readonly Direction[] = ['inbound', 'outbound'];
const OK = 200;

const LISTED = `id, hauler_id, connection_id, api_key_id, replay_of, request_bytes, response_bytes, duration_ms, status,
  direction, interface, route, method, path, key_prefix, request_id, failure, error_code, result, scenario, ignored_fields, refs`;

export interface ExchangeListRow {
  readonly id: string;
  readonly hauler_id: string | null;
  readonly connection_id: string | null;
  readonly api_key_id: string | null;
  readonly replay_of: string | null;
  /** A bigint is text. */
  readonly request_bytes: string;
  readonly response_bytes: string;
  readonly duration_ms: number;
  readonly status: number;
  readonly direction: Direction;
  readonly interface: InterfaceName;
  readonly route: string | null;
  readonly method: string;
  readonly path: string;
  readonly key_prefix: string | null;
  readonly request_id: string | null;
  readonly failure: string | null;
  readonly error_code: string | null;
  readonly result: string | null;
  readonly scenario: string | null;
  readonly ignored_fields: string | null;
  readonly refs: string | null;
}

export interface FullExchangeRow extends ExchangeListRow {
  readonly in_revision: boolean;
  readonly request_headers: string;
  readonly request_body: string | null;
  readonly request_form: number;
  readonly request_sha256: string | null;
  readonly response_headers: string | null;
  readonly response_body: string | null;
  readonly response_form: number;
  readonly response_sha256: string | null;
}

/** An exchange with the text of its response, if that is an error. */
export interface NamedExchangeRow extends ExchangeListRow {
  readonly response_text: string | null;
}

/** Reads exchanges, and maintains their partitions. */
@Injectable()
export class ExchangesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The newest `limit` exchanges of a filter. */
  find(filter: ExchangeFilter, limit: number): Promise<ExchangeListRow[]> {
    const { sql, parameters } = listSql(filter, limit);
    return this.dataSource.query(sql, parameters);
  }

  /** The newest `limit` exchanges of a hauler that name one of the values. */
  naming(haulerId: string, references: readonly Reference[], limit: number): Promise<NamedExchangeRow[]> {
    return this.dataSource.query(
      `SELECT ${LISTED}, CASE WHEN status >= 400 AND response_form & 1 = 0 THEN left(response_body, 4096) END AS response_text
         FROM exchanges WHERE hauler_id = $1 AND id IN (
           SELECT found.exchange_id FROM unnest($2::text[], $3::text[]) AS wanted (kind, value)
             CROSS JOIN LATERAL (SELECT exchange_id FROM exchange_references r
               WHERE r.value = wanted.value AND r.kind = wanted.kind ORDER BY exchange_id DESC LIMIT ${limit}) AS found)
        ORDER BY id DESC LIMIT ${limit}`,
      [haulerId, references.map(({ kind }) => kind), references.map(({ value }) => value)],
    );
  }

  async get(id: string): Promise<FullExchangeRow | undefined> {
    const [row] = await this.dataSource.query<FullExchangeRow[]>('SELECT * FROM exchanges WHERE id = $1', [id]);
    return row;
  }

  async createPartitions(daysAhead: number): Promise<void> {
    await this.dataSource.query(
      `SELECT create_exchange_partitions(day, day + $1::int)
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) AS today`,
      [daysAhead],
    );
  }

  /** Drops the partitions of days before the last `keptDays` days. Returns their names. */
  async dropPartitions(keptDays: number): Promise<string[]> {
    const old = await this.dataSource.query<{ name: string }[]>(
      `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('exchanges'::regclass, 'exchange_references'::regclass)
          AND right(c.relname, 8) < to_char((now() AT TIME ZONE 'UTC')::date - $1::int, 'YYYYMMDD')`,
      [keptDays],
    );
    for (const { name } of old) {
      // A reader of the table must not stop the writers behind it for long.
      await inTransaction(this.dataSource, async (manager) => {
        await manager.query("SET LOCAL lock_timeout = '2s'");
        await manager.query(`DROP TABLE IF EXISTS ${name}`);
      });
    }
    return old.map(({ name }) => name);
  }
}

/**
 * Each statement reads one index from its newest end: that of the filter with the fewest exchanges. A filter by hauler,
 * direction or interface reads one range of the index for each combination, and a class of statuses one for each status.
 */
export function listSql(filter: ExchangeFilter, limit: number): { sql: string; parameters: unknown[] } {
  const parameters: unknown[] = [];
  const parameter = (value: unknown) => `$${parameters.push(value)}`;
  const idBounds = (column: string) =>
    [
      filter.from === undefined ? [] : [`${column} >= ${parameter(leastUuidv7Of(filter.from))}`],
      filter.to === undefined ? [] : [`${column} < ${parameter(leastUuidv7Of(filter.to))}`],
      filter.before === undefined ? [] : [`${column} < ${parameter(filter.before)}`],
    ].flat();
  const conditions = conditionsOf(filter, parameter);
  if (filter.reference !== undefined) {
    const { kind, value } = filter.reference;
    const found = [`value = ${parameter(value)}`, `kind = ${parameter(kind)}`, ...idBounds('exchange_id')];
    const where = ['e.id = r.exchange_id', ...conditions].join(' AND ');
    const sql = `SELECT e.* FROM (SELECT exchange_id FROM exchange_references WHERE ${found.join(' AND ')}
        ORDER BY exchange_id DESC) AS r
      CROSS JOIN LATERAL (SELECT ${LISTED} FROM exchanges e WHERE ${where} LIMIT 1) AS e
      ORDER BY r.exchange_id DESC LIMIT ${limit}`;
    return { sql, parameters };
  }
  const common = [...conditions, ...idBounds('id')];
  const newest = (own: readonly string[]) => {
    const where = [...common, ...own];
    return `SELECT ${LISTED} FROM exchanges ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`}
      ORDER BY id DESC LIMIT ${limit}`;
  };
  const [first = [], ...others] = rangesOf(filter);
  if (others.length === 0) return { sql: newest(first), parameters };
  const parts = [first, ...others].map((own) => `(${newest(own)})`).join(' UNION ALL ');
  return { sql: `SELECT * FROM (${parts}) AS e ORDER BY id DESC LIMIT ${limit}`, parameters };
}

function conditionsOf(filter: ExchangeFilter, parameter: (value: unknown) => string): string[] {
  const conditions: string[] = [];
  const equal = (column: string, value: unknown) => {
    if (value !== undefined) conditions.push(`${column} = ${parameter(value)}`);
  };
  equal('direction', filter.direction);
  equal('interface', filter.interface);
  equal('hauler_id', filter.haulerId);
  equal('connection_id', filter.connectionId);
  equal('api_key_id', filter.apiKeyId);
  equal('error_code', filter.errorCode);
  equal('request_id', filter.requestId);
  if (filter.status !== undefined) {
    const [first, last] = filter.status;
    conditions.push(`status BETWEEN ${first} AND ${last}`);
  }
  return conditions;
}

/** Statuses that occur often enough for a range of their own. */
const COMMON_STATUSES = [400, 401, 404, 405, 408, 409, 410, 413, 415, 416, 422, 429, 500, 502, 503, 504];

/**
 * The conditions of each range of an index. They are constants: of a value that the planner does not know, it assumes that
 * it is frequent, and reads all exchanges from the newest on.
 */
function rangesOf(filter: ExchangeFilter): readonly (readonly string[])[] {
  const { status, requestId, apiKeyId, connectionId, errorCode } = filter;
  if ((requestId ?? apiKeyId ?? connectionId) !== undefined) return [];
  if (status !== undefined && status[0] !== OK) {
    const [first, last] = status;
    const common = COMMON_STATUSES.filter((each) => each >= first && each <= last);
    // Named one by one: `status <> 422` would read all exchanges with that status to leave them out.
    const others = Array.from({ length: last - first + 1 }, (_, i) => first + i).filter(
      (each) => !common.includes(each),
    );
    const rest = [[`status <> ${OK}`, `status IN (${others.join(', ')})`]];
    return first === last ? [[`status <> ${OK}`]] : [...common.map((each) => [`status = ${each}`]), ...rest];
  }
  if (errorCode !== undefined) return [];
  const { direction, interface: name, haulerId } = filter;
  if ((direction ?? name ?? haulerId) === undefined) return [];
  const directions = direction === undefined ? DIRECTIONS : [direction];
  const interfaces = name === undefined ? INTERFACES : [name];
  return directions.flatMap((one) => interfaces.map((other) => [`direction = '${one}'`, `interface = '${other}'`]));
}
