import { Injectable } from '@nestjs/common';
import type { ExchangeCounts, RefusedPushes, TicketCounts } from '../contracts/admin/overview.dto.js';
import type { InterfaceName } from '../contracts/common/interfaces.values.js';
import { Database } from '../database/database.js';
import type { ExchangeFilter } from './exchange-list.sql.js';
import { IS_FAILED, REASON } from './exchange-reason.sql.js';
import type { Direction } from './exchange-record.js';

const MAX_REFUSED = 20;
const MAX_REASONS = 50;

/** Not a failure that the sandbox made. */
const IS_REAL = '(NOT by_sandbox OR status BETWEEN 1 AND 399)';

/** The routes by which partners push. */
const PUSH = "direction = 'inbound' AND route IN ('createTicket', 'createAccount')";

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

interface RefusedRow {
  readonly interface: InterfaceName;
  readonly status: number;
  readonly error_code: string;
  readonly result: string;
  readonly count: number;
  readonly last_id: string;
}

/** Failures with one reason. */
interface ReasonRow {
  readonly direction: Direction;
  readonly reason: string;
  readonly count: number;
  /** Of the newest one. */
  readonly status: number;
  readonly last_id: string;
}

/** Exchanges by their outcome, from the start of a span. */
export interface SpanRow extends ExchangeCounts {
  readonly start: Date;
}

/** The hours of a filter, with the reason of failures. */
const MATCHING = `
  SELECT * FROM (
    SELECT *, CASE WHEN ${IS_FAILED} THEN ${REASON} END AS reason
    FROM (SELECT hour, direction, interface, hauler_id, connection_id, api_key_id, status, count, last_id,
        nullif(error_code, '') AS error_code, nullif(result, '') AS result, nullif(failure, '') AS failure
      FROM exchange_hours) AS h
    WHERE ($1::timestamptz IS NULL OR hour >= date_trunc('hour', $1::timestamptz, 'UTC'))
      AND ($2::timestamptz IS NULL OR hour < $2)
      AND ($3::text IS NULL OR direction = $3) AND ($4::text IS NULL OR interface = $4)
      AND ($5::uuid IS NULL OR hauler_id = $5) AND ($6::uuid IS NULL OR connection_id = $6)
      AND ($7::uuid IS NULL OR api_key_id = $7) AND ($8::int IS NULL OR status BETWEEN $8 AND $9::int)
      AND ($10::text IS NULL OR error_code = $10)) AS h
  WHERE $11::text IS NULL OR reason = $11`;

function valuesOf(filter: ExchangeFilter): unknown[] {
  const { direction, interface: name, haulerId, connectionId, apiKeyId, status = [], errorCode, reason } = filter;
  const { from, to } = filter;
  const values = [
    ...[from === undefined ? undefined : new Date(from), to === undefined ? undefined : new Date(to)],
    ...[direction, name, haulerId, connectionId, apiKeyId, status[0], status[1], errorCode, reason],
  ];
  return values.map((value) => value ?? null);
}

/** Exchanges counted by hour. */
@Injectable()
export class ExchangeHours {
  constructor(private readonly database: Database) {}

  /** By the start of the hour in milliseconds since the epoch; hours without an exchange are absent. */
  async counts(from: Date): Promise<ReadonlyMap<number, CountedHour>> {
    const sums = Object.entries(NUMBERS).map(
      ([name, condition]) => `coalesce(sum(count) FILTER (WHERE ${condition}), 0)::float8 AS "${name}"`,
    );
    const rows = await this.database.query<HourRow>(
      `SELECT hour, ${sums.join(', ')} FROM exchange_hours WHERE hour >= $1 AND ${IS_REAL} GROUP BY hour`,
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
    const rows = await this.database.query<RefusedRow>(
      `SELECT interface, status, error_code, result, sum(count)::float8 AS count,
         (array_agg(last_id ORDER BY last_id DESC))[1] AS last_id
       FROM exchange_hours WHERE hour >= $1 AND ${PUSH} AND status >= 400 AND ${IS_REAL}
       GROUP BY interface, status, error_code, result ORDER BY count DESC, last_id DESC LIMIT ${MAX_REFUSED}`,
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

  /** The most frequent reasons of the failures of a filter, those that the sandbox made too. Hours are counted whole. */
  async reasons(filter: ExchangeFilter): Promise<ReasonRow[]> {
    return this.database.query<ReasonRow>(
      `SELECT direction, reason, sum(count)::float8 AS count, (array_agg(status ORDER BY last_id DESC))[1] AS status,
         max(last_id::text) AS last_id
       FROM (${MATCHING}) AS failures WHERE reason IS NOT NULL
       GROUP BY direction, reason ORDER BY count DESC, direction, reason LIMIT ${MAX_REASONS}`,
      valuesOf(filter),
    );
  }

  /**
   * The exchanges of a filter in spans of whole hours; spans without one are absent. Those that succeeded are not counted by their
   * hauler, connection or key.
   */
  async spans(filter: ExchangeFilter, hours: number, from: Date): Promise<SpanRow[]> {
    const { succeeded, refused, failed, unanswered } = NUMBERS;
    const sums = Object.entries({ succeeded, refused, failed, unanswered }).map(
      ([name, condition]) => `coalesce(sum(count) FILTER (WHERE ${condition}), 0)::float8 AS "${name}"`,
    );
    return this.database.query<SpanRow>(
      `SELECT date_bin(make_interval(hours => $13::int), hour, $14::timestamptz) AS start, ${sums.join(', ')}
       FROM (${MATCHING}) AS matching WHERE $12::boolean IS NULL OR (reason IS NOT NULL) = $12
       GROUP BY 1 ORDER BY 1`,
      [...valuesOf(filter), filter.failed ?? null, hours, from],
    );
  }

  /** The start of the first hour that is kept; undefined without one. */
  async first(): Promise<Date | undefined> {
    const [row] = await this.database.query<{ hour: Date }>('SELECT hour FROM exchange_hours ORDER BY hour LIMIT 1');
    return row?.hour;
  }

  /** Deletes the hours of days before the last `keptDays` days. */
  async deleteOld(keptDays: number): Promise<void> {
    for (const table of ['exchange_hours', 'connection_hours']) {
      await this.database.query(
        `DELETE FROM ${table} WHERE hour < date_trunc('day', now(), 'UTC') - make_interval(days => $1::int)`,
        [keptDays],
      );
    }
  }
}
