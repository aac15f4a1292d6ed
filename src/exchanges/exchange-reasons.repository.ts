import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { elementsOf, type ExchangeFilter, listSql, parametersOf } from './exchange-list.sql.js';
import type { Direction } from './exchange-record.js';

/** Failed exchanges that one answer counts: reading as many takes some tenths of a second. */
export const MAX_COUNTED = 20_000;
export const MAX_REASONS = 50;

export interface ReasonRow {
  readonly direction: Direction;
  readonly reason: string;
  readonly count: number;
  /** Of the newest one. */
  readonly status: number;
  readonly last_id: string;
}

/** What was read for the counts. */
export interface ReasonsRead {
  readonly read: number;
  /** The oldest of them. */
  readonly first_id: string | null;
  readonly reasons: readonly ReasonRow[] | null;
}

/** Failed exchanges by reason. */
@Injectable()
export class ExchangeReasonsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The most frequent reasons among the newest `MAX_COUNTED` failed exchanges of a filter. */
  async count(filter: ExchangeFilter): Promise<ReasonsRead> {
    const sought = { ...filter, failed: true };
    const elements = filter.reference === undefined ? null : elementsOf(filter, [filter.reference]);
    const rows = await this.dataSource.query<[ReasonsRead]>(
      `WITH failed AS MATERIALIZED (SELECT id, direction, reason, status, refs FROM (${listSql(sought)}) AS newest)
       SELECT count(*)::int AS read, min(id::text) AS first_id, (
         SELECT json_agg(g) FROM (
           SELECT direction, reason, count(*)::int AS count, (array_agg(status ORDER BY id DESC))[1] AS status,
             max(id::text) AS last_id
           FROM failed WHERE coalesce(refs && $15::text[], $15::text[] IS NULL)
           GROUP BY direction, reason ORDER BY count(*) DESC, direction, reason LIMIT ${MAX_REASONS}) AS g) AS reasons
       FROM failed`,
      [...parametersOf(sought, MAX_COUNTED), elements],
    );
    return rows[0];
  }
}
