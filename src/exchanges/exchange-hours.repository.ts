import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import type { ExchangeCounts, RefusedPushes, TicketCounts } from '../contracts/admin/overview.dto.js';
import type { InterfaceName } from '../contracts/common/interfaces.values.js';
import { storableText } from '../contracts/common/text.js';
import { timeOfUuidv7 } from '../database/uuid.js';
import type { ExchangeRecord } from './exchange-record.js';

const { escapeLiteral } = pg;

const HOUR_SECONDS = 3_600;
const HOUR_MS = 3_600_000;
const MAX_REASONS = 20;
const OK = 200;

/** The routes by which partners push. */
const PUSH = "direction = 'inbound' AND route IN ('createTicket', 'createAccount')";

/**
 * The key of the row that counts an exchange, its fields joined by tabs; undefined for a failure that the sandbox made. One that was
 * committed, and whose answer the sandbox lost, counts as answered. Codes and results are counted for inbound calls
 * only: a partner chooses those of its own responses, and could choose another one for each.
 */
export function tallyOf(
  { id, direction, interface: name, route, status: sent, scenario }: ExchangeRecord,
  { errorCode, result }: { readonly errorCode?: string | undefined; readonly result?: string | undefined },
): string | undefined {
  const isCommitted = result !== undefined && errorCode === undefined;
  const status = scenario !== undefined && sent === 0 && isCommitted ? OK : sent;
  if (scenario !== undefined && (status === 0 || status >= 400)) return undefined;
  const hour = Math.floor(timeOfUuidv7(id) / HOUR_MS) * HOUR_SECONDS;
  const own = direction === 'inbound' ? `${tallied(errorCode)}\t${tallied(result)}` : '\t';
  return `${hour}\t${direction}\t${name}\t${route ?? ''}\t${status}\t${own}`;
}

const tallied = (text = ''): string => storableText(text).replaceAll('\t', ' ');

/**
 * Adds a batch to the hours, in the order of the key, so that two instances cannot deadlock. A text without parameters, which follows the
 * COPY of the batch.
 */
export function hoursSql(rows: readonly { readonly id: string; readonly tally: string | undefined }[]): string {
  const counted = rows.filter((row): row is typeof row & { readonly tally: string } => row.tally !== undefined);
  if (counted.length === 0) return '';
  const tallies = [...Map.groupBy(counted, ({ tally }) => tally)].map(([tally, all]) => {
    const [hour, direction, name, route, status, errorCode, result] = tally
      .split('\t')
      .map((text) => escapeLiteral(text));
    const last = all.reduce((newest, { id }) => (id > newest ? id : newest), '');
    return `(to_timestamp(${hour}::bigint), ${direction}, ${name}, ${route}, ${status}::smallint, ${errorCode}, ${result}, ${all.length}, ${escapeLiteral(last)}::uuid)`;
  });
  return `
    INSERT INTO exchange_hours AS h
      (hour, direction, interface, route, status, error_code, result, count, last_id)
    SELECT * FROM (VALUES ${tallies.join(', ')})
      AS t (hour, direction, interface, route, status, error_code, result, count, last_id)
    ORDER BY hour, direction COLLATE "C", interface COLLATE "C", route COLLATE "C", status, error_code COLLATE "C",
      result COLLATE "C"
    ON CONFLICT (hour, direction, interface, route, status, error_code, result)
    DO UPDATE SET count = h.count + excluded.count, last_id = greatest(h.last_id, excluded.last_id)`;
}

/** The counts of one hour. */
export interface CountedHour {
  readonly tickets: TicketCounts;
  readonly exchanges: ExchangeCounts;
}

const TICKET = "direction = 'inbound' AND route = 'createTicket'";

const NUMBERS = {
  created: `${TICKET} AND result = 'created'`,
  updated: `${TICKET} AND result = 'updated'`,
  unchanged: `${TICKET} AND result = 'unchanged'`,
  stale: `${TICKET} AND result = 'stale'`,
  refusedPushes: `${TICKET} AND status >= 400`,
  succeeded: 'status BETWEEN 1 AND 399',
  refused: 'status BETWEEN 400 AND 499',
  failed: 'status >= 500',
  unanswered: 'status = 0',
};

type HourRow = Readonly<Record<keyof typeof NUMBERS, number>> & { readonly hour: Date };

interface ReasonRow {
  readonly interface: InterfaceName;
  readonly status: number;
  readonly error_code: string;
  readonly result: string;
  readonly count: number;
  readonly last_id: string;
}

/** Exchanges counted by hour. */
@Injectable()
export class ExchangeHours {
  constructor(private readonly dataSource: DataSource) {}

  /** By the start of the hour in milliseconds since the epoch; hours without an exchange are absent. */
  async counts(from: Date): Promise<ReadonlyMap<number, CountedHour>> {
    const sums = Object.entries(NUMBERS).map(
      ([name, condition]) => `coalesce(sum(count) FILTER (WHERE ${condition}), 0)::float8 AS "${name}"`,
    );
    const rows = await this.dataSource.query<HourRow[]>(
      `SELECT hour, ${sums.join(', ')} FROM exchange_hours WHERE hour >= $1 GROUP BY hour`,
      [from],
    );
    return new Map(
      rows.map(({ hour, created, updated, unchanged, stale, refusedPushes, ...exchanges }) => {
        const { succeeded, refused, failed, unanswered } = exchanges;
        const tickets = { created, updated, unchanged, stale, refused: refusedPushes };
        return [hour.getTime(), { tickets, exchanges: { succeeded, refused, failed, unanswered } }];
      }),
    );
  }

  async refusedPushes(from: Date): Promise<RefusedPushes[]> {
    const rows = await this.dataSource.query<ReasonRow[]>(
      `SELECT interface, status, error_code, result, sum(count)::float8 AS count,
         (array_agg(last_id ORDER BY last_id DESC))[1] AS last_id
       FROM exchange_hours WHERE hour >= $1 AND ${PUSH} AND status >= 400
       GROUP BY interface, status, error_code, result ORDER BY count DESC, last_id DESC LIMIT ${MAX_REASONS}`,
      [from],
    );
    return rows.map(({ interface: name, status, error_code, result, count, last_id }) => {
      const [, reason = ''] = /^\d{3} (.+)$/.exec(result) ?? [];
      return {
        interface: name,
        status,
        ...(error_code === '' ? {} : { errorCode: error_code }),
        ...(reason === '' || reason === error_code ? {} : { reason }),
        count,
        lastExchangeId: last_id,
      };
    });
  }

  /** Deletes the hours of days before the last `keptDays` days. */
  async deleteOld(keptDays: number): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM exchange_hours WHERE hour < date_trunc('day', now(), 'UTC') - make_interval(days => $1::int)`,
      [keptDays],
    );
    await this.dataSource.query(`DELETE FROM exchange_days WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::int`, [
      keptDays,
    ]);
  }
}
