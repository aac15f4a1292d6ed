import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Reference } from '../contracts/common/references.js';
import type { InterfaceName } from '../contracts/common/api-contract.js';
import { inTransaction } from '../database/transaction.js';
import { type ExchangeFilter, FEW_OF_HAULER, LISTED, listSql, PLANNER } from './exchange-list.sql.js';
import type { Direction } from './exchange-record.js';

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
    return inTransaction(this.dataSource, async (manager) => {
      await manager.query(PLANNER);
      const isSmallHauler = await hasFewExchanges(manager, filter);
      const { sql, parameters } = listSql(filter, limit, { isSmallHauler });
      return manager.query<ExchangeListRow[]>(sql, parameters);
    });
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

/** Only asked for a filter by hauler and reference. */
async function hasFewExchanges(manager: EntityManager, { haulerId, reference }: ExchangeFilter): Promise<boolean> {
  if (haulerId === undefined || reference === undefined) return false;
  const [row] = await manager.query<[{ count: number }]>(
    `SELECT count(*)::int FROM (SELECT FROM exchanges WHERE hauler_id = $1 LIMIT ${FEW_OF_HAULER + 1}) AS found`,
    [haulerId],
  );
  return row.count <= FEW_OF_HAULER;
}
