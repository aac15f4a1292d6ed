import { Injectable } from '@nestjs/common';
import type { Reference } from '../contracts/common/references.js';
import type { InterfaceName } from '../contracts/common/interfaces.values.js';
import { Database } from '../core/database/database.js';
import { dropPartition, partitionsBefore, partitionsOf } from '../core/database/partitions.repository.js';
import { PARTITIONED } from '../core/database/partitions.rules.js';
import type { Sql } from '../core/database/sql.js';
import {
  elementsOf,
  type ExchangeFilter,
  idsOf,
  LISTED,
  listSql,
  newestWithReferenceSql,
  REASON_COLUMN,
  type Statement,
  withReferenceSql,
} from './exchange-list.sql.js';
import type { Direction } from './exchange-record.js';
import { timeOfUuidv7 } from '../core/database/uuid.js';

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
  readonly refs: string[] | null;
  /** Null of one that succeeded. */
  readonly reason: string | null;
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

/** What a list does not have and an explanation needs. */
export type AnswerRow = Pick<FullExchangeRow, 'id' | 'response_headers'> & Pick<NamedExchangeRow, 'response_text'>;

const ERROR_TEXT =
  'CASE WHEN status >= 400 AND response_form & 1 = 0 THEN left(response_body, 4096) END AS response_text';

const DAY_MS = 86_400_000;

/** Exchanges that a list with a reference reads before it uses the index of references. */
const NEWEST = 1_000;

/** Of `newestWithReferenceSql`. */
type SeenRow = { readonly seen: number } & (ExchangeListRow | { readonly id: null });

/** Which of the exchanges are stored. */
export async function storedIds(database: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>('SELECT id FROM exchanges WHERE id = ANY ($1::uuid[])', [ids]);
  return new Set(rows.map(({ id }) => id));
}

/** Reads exchanges, and drops their partitions. */
@Injectable()
export class ExchangesRepository {
  constructor(private readonly database: Database) {}

  async find(filter: ExchangeFilter, limit: number): Promise<ExchangeListRow[]> {
    const { reference } = filter;
    if (reference === undefined) return this.read(listSql(filter, limit));
    const elements = elementsOf(filter, [reference]);
    const rows = await this.read<SeenRow>(newestWithReferenceSql(filter, elements, { among: NEWEST, limit }));
    const found = rows.filter((row): row is SeenRow & ExchangeListRow => row.id !== null);
    // Fewer exchanges than were asked for are all that the other filters have.
    if (found.length === limit || (rows[0]?.seen ?? 0) < NEWEST) return found;
    return this.findByReference(filter, elements, { columns: LISTED, limit });
  }

  /** The newest `limit` exchanges of a hauler that have one of the references. */
  naming(haulerId: string, references: readonly Reference[], limit: number): Promise<NamedExchangeRow[]> {
    if (references.length === 0) return Promise.resolve([]);
    const columns = `${LISTED}, ${ERROR_TEXT}`;
    return this.findByReference({ haulerId }, elementsOf({ haulerId }, references), { columns, limit });
  }

  /** The newest `limit` exchanges of a filter that have one of the references. */
  withReferences(filter: ExchangeFilter, references: readonly Reference[], limit: number): Promise<ExchangeListRow[]> {
    return this.findByReference(filter, elementsOf(filter, references), { columns: LISTED, limit });
  }

  async withIds(haulerId: string, ids: readonly string[]): Promise<NamedExchangeRow[]> {
    if (ids.length === 0) return [];
    return this.database.query<NamedExchangeRow>(
      `SELECT ${LISTED}, ${ERROR_TEXT} FROM exchanges WHERE hauler_id = $1 AND id = ANY ($2::uuid[])`,
      [haulerId, ids],
    );
  }

  async answers(ids: readonly string[]): Promise<AnswerRow[]> {
    if (ids.length === 0) return [];
    return this.database.query<AnswerRow>(
      `SELECT id, response_headers, ${ERROR_TEXT} FROM exchanges WHERE id = ANY ($1::uuid[])`,
      [ids],
    );
  }

  async get(id: string): Promise<FullExchangeRow | undefined> {
    return this.database.first<FullExchangeRow>(`SELECT *, ${REASON_COLUMN} FROM exchanges WHERE id = $1`, [id]);
  }

  /**
   * Adds the gathered references of earlier days to their index. Nothing else would: PostgreSQL does it when many have been gathered, or
   * in a vacuum.
   */
  async indexReferences(): Promise<void> {
    await this.database.query(
      `SELECT gin_clean_pending_list(c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         JOIN pg_index x ON x.indexrelid = c.oid JOIN pg_class t ON t.oid = x.indrelid
        WHERE i.inhparent = 'exchanges_refs_idx'::regclass
          AND right(t.relname, 8) < to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')`,
    );
  }

  /** Drops the partitions of days before the last `keptDays` days. */
  async dropPartitions(keptDays: number): Promise<void> {
    const oldest = (Math.floor(Date.now() / DAY_MS) - keptDays) * DAY_MS;
    for (const { name } of await partitionsBefore(this.database, PARTITIONED.exchanges, oldest + 1)) {
      await this.database.transaction((transaction) => dropPartition(transaction, PARTITIONED.exchanges, name));
    }
  }

  /**
   * Reads one day after the other, from the newest, until there are `limit` rows: the index has no order. One statement for all days
   * reads a hundred times as much: the planner does not know how little of a day has the reference.
   */
  private async findByReference<Row extends ExchangeListRow>(
    filter: ExchangeFilter,
    elements: readonly string[],
    { columns, limit }: { readonly columns: string; readonly limit: number },
  ): Promise<Row[]> {
    const { first, end } = idsOf(filter);
    const rows: Row[] = [];
    for (const day of await this.days()) {
      if (rows.length >= limit) break;
      if (day > timeOfUuidv7(end) || day + DAY_MS <= timeOfUuidv7(first)) continue;
      const ofDay = {
        ...filter,
        from: Math.max(filter.from ?? day, day),
        to: Math.min(filter.to ?? day + DAY_MS, day + DAY_MS),
      };
      rows.push(...(await this.read<Row>(withReferenceSql(ofDay, elements, { columns, limit: limit - rows.length }))));
    }
    return rows;
  }

  private read<Row = ExchangeListRow>({ sql, parameters }: Statement): Promise<Row[]> {
    return this.database.query<Row>(sql, parameters);
  }

  /** The days (UTC) of the partitions, named `exchanges_YYYYMMDD`, the newest first. */
  private async days(): Promise<number[]> {
    const names = await partitionsOf(this.database, PARTITIONED.exchanges);
    return names.reverse().map((name) => {
      const [, year = '', month = '', date = ''] = /(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
      return Date.parse(`${year}-${month}-${date}`);
    });
  }
}
