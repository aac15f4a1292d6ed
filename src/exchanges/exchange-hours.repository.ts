import { Injectable } from '@nestjs/common';
import type { ExchangeCounts, RefusedPushes, TicketCounts } from '../contracts/admin/overview.dto.js';
import type { InterfaceName } from '../contracts/common/interfaces.values.js';
import { formatInstant } from '../contracts/common/instant.js';
import { Database } from '../core/database/database.js';
import { minUuidv7Of, timeOfUuidv7 } from '../core/database/uuid.js';
import { type ExchangeFilter, IS_FAILED, REASON } from './exchange-list.sql.js';
import { NONE } from './exchange-tally.sql.js';
import type { Direction } from './exchange-record.js';

const MAX_REFUSED = 20;
const MAX_REASONS = 50;

/** Not a failure that the sandbox made. */
const IS_REAL = '(NOT by_sandbox OR status BETWEEN 1 AND 399)';

/** The routes by which partners push. */
const PUSH = "direction = 'inbound' AND route IN ('createTicket', 'createAccount')";

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
  readonly hauler_id: string | null;
  /** The start of the hour of the first. */
  readonly first_hour: Date;
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
    FROM (SELECT hour, direction, interface, hauler_id, connection_id, api_key_id, status, count, last_id, by_sandbox,
        nullif(error_code, '') AS error_code, nullif(result, '') AS result, nullif(failure, '') AS failure
      FROM exchange_hours) AS h
    WHERE ($1::timestamptz IS NULL OR hour >= date_trunc('hour', $1::timestamptz, 'UTC'))
      AND ($2::timestamptz IS NULL OR hour < $2)
      AND ($3::text IS NULL OR direction = $3) AND ($4::text IS NULL OR interface = $4)
      AND ($5::uuid IS NULL OR hauler_id = $5) AND ($6::uuid IS NULL OR connection_id = $6)
      AND ($7::uuid IS NULL OR api_key_id = $7) AND ($8::int IS NULL OR status BETWEEN $8 AND $9::int)
      AND ($10::text IS NULL OR error_code = $10) AND ($12::boolean IS NULL OR by_sandbox = $12)) AS h
  WHERE $11::text IS NULL OR reason = $11`;

function valuesOf(filter: ExchangeFilter): unknown[] {
  const { direction, interface: name, haulerId, connectionId, apiKeyId, status = [], errorCode, reason } = filter;
  const { from, to, rehearsed } = filter;
  const values = [
    from === undefined ? undefined : new Date(from),
    to === undefined ? undefined : new Date(to),
    ...[direction, name, haulerId, connectionId, apiKeyId, status[0], status[1], errorCode, reason],
    rehearsed,
  ];
  return values.map((value) => value ?? null);
}

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

  /** By hauler and reason, the most frequent first. */
  async refusedPushes(from: Date): Promise<RefusedPushes[]> {
    const rows = await this.database.query<RefusedRow>(
      `SELECT interface, status, error_code, result, nullif(hauler_id, '${NONE}') AS hauler_id, sum(count)::float8 AS count,
         min(hour) AS first_hour, (array_agg(last_id ORDER BY last_id DESC))[1] AS last_id
       FROM exchange_hours WHERE hour >= $1 AND ${PUSH} AND status >= 400 AND ${IS_REAL}
       GROUP BY interface, status, error_code, result, hauler_id ORDER BY count DESC, last_id DESC LIMIT ${MAX_REFUSED}`,
      [from],
    );
    const firsts = await this.firstOf(rows);
    return rows.map(({ interface: name, status, error_code, result, hauler_id, count, last_id }, i) => {
      const [, reason = ''] = /^\d{3} (.+)$/.exec(result) ?? [];
      return {
        interface: name,
        status,
        ...(error_code === '' ? {} : { errorCode: error_code }),
        ...(reason === '' || reason === error_code ? {} : { reason }),
        count,
        ...(hauler_id === null ? {} : { haulerId: hauler_id }),
        firstAt: formatInstant(new Date(timeOfUuidv7(firsts.get(i + 1) ?? last_id))),
        lastExchangeId: last_id,
      };
    });
  }

  /** The first exchanges that such rows count, by their places from 1 on: the hours know only the last ones. */
  private async firstOf(rows: readonly RefusedRow[]): Promise<ReadonlyMap<number, string>> {
    const found = await this.database.query<{ place: number; id: string }>(
      `SELECT place::integer AS place, first.id
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::smallint[], $5::text[], $6::text[], $7::uuid[])
         WITH ORDINALITY AS row (since, until, interface, status, error_code, result, hauler_id, place), LATERAL (
         SELECT id FROM exchanges AS e
         WHERE e.id BETWEEN row.since AND row.until AND (e.status >= 400 OR e.status = 0 OR e.failure IS NOT NULL)
           AND e.direction = 'inbound' AND e.interface = row.interface AND e.scenario IS NULL AND e.status = row.status
           AND coalesce(e.error_code, '') = row.error_code AND coalesce(e.result, '') = row.result
           AND e.hauler_id IS NOT DISTINCT FROM row.hauler_id
         ORDER BY e.id LIMIT 1) AS first`,
      [
        rows.map(({ first_hour }) => minUuidv7Of(first_hour.getTime())),
        rows.map(({ last_id }) => last_id),
        ...(['interface', 'status', 'error_code', 'result', 'hauler_id'] as const).map((name) =>
          rows.map((row) => row[name]),
        ),
      ],
    );
    return new Map(found.map(({ place, id }) => [place, id]));
  }

  /** Refused and failed calls to this service by the start of their hour in milliseconds since the epoch, without rehearsals. */
  async refusedCalls(from: Date, haulers: readonly string[] | undefined): Promise<ReadonlyMap<number, number>> {
    const rows = await this.database.query<{ hour: Date; count: number }>(
      `SELECT hour, sum(count)::float8 AS count FROM exchange_hours
       WHERE hour >= $1 AND direction = 'inbound' AND (status >= 400 OR status = 0 OR failure <> '') AND NOT by_sandbox
         AND ($2::uuid[] IS NULL OR hauler_id = ANY ($2))
       GROUP BY hour`,
      [from, haulers ?? null],
    );
    return new Map(rows.map(({ hour, count }) => [hour.getTime(), count]));
  }

  /** The most frequent reasons of the failures of a filter, those that the sandbox made too unless it says otherwise. Hours are counted whole. */
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
      `SELECT date_bin(make_interval(hours => $14::int), hour, $15::timestamptz) AS start, ${sums.join(', ')}
       FROM (${MATCHING}) AS matching WHERE $13::boolean IS NULL OR (reason IS NOT NULL) = $13
       GROUP BY 1 ORDER BY 1`,
      [...valuesOf(filter), filter.failed ?? null, hours, from],
    );
  }

  /** The start of the first hour that is kept; undefined without one. */
  async first(): Promise<Date | undefined> {
    const row = await this.database.first<{ hour: Date }>('SELECT hour FROM exchange_hours ORDER BY hour LIMIT 1');
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
