import pg from 'pg';
import { storableText } from '../contracts/common/text.js';
import { timeOfUuidv7 } from '../core/database/uuid.js';
import type { ExchangeRecord } from './exchange-record.js';

const { escapeLiteral } = pg;

const HOUR_SECONDS = 3_600;
const HOUR_MS = 3_600_000;
const OK = 200;

/** Stands for no hauler, connection or key: a primary key has no nulls. */
export const NONE = '00000000-0000-0000-0000-000000000000';

/** The row of `exchange_hours` that counts an exchange. Absent texts are empty. */
interface Tally {
  /** Seconds since the epoch. */
  readonly hour: number;
  readonly direction: string;
  readonly interface: string;
  readonly route: string;
  readonly status: number;
  readonly error_code: string;
  readonly result: string;
  readonly failure: string;
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly api_key_id: string;
  readonly by_sandbox: boolean;
}

/**
 * The tally of an exchange, as JSON. Who called and the cause are counted of failures only. One that was committed, and whose answer
 * the sandbox lost, counts as answered, with its failure. The codes of a partner that did not fail are not counted: it could choose
 * another one for each response.
 */
export function tallyOf(
  { id, direction, interface: name, route, status: sent, scenario, ...record }: ExchangeRecord,
  { errorCode, result }: { readonly errorCode?: string | undefined; readonly result?: string | undefined },
): string {
  const isCommitted = result !== undefined && errorCode === undefined;
  const status = scenario !== undefined && sent === 0 && isCommitted ? OK : sent;
  const failure = record.failure ?? (sent === 0 ? 'no-response' : undefined);
  const isFailure = status >= 400 || failure !== undefined;
  const hasCodes = direction === 'inbound' || isFailure;
  const tally: Tally = {
    hour: Math.floor(timeOfUuidv7(id) / HOUR_MS) * HOUR_SECONDS,
    direction,
    interface: name,
    route: route ?? '',
    status,
    error_code: hasCodes ? storableText(errorCode ?? '') : '',
    result: hasCodes ? storableText(result ?? '') : '',
    failure: storableText(failure ?? ''),
    hauler_id: (isFailure ? record.haulerId : null) ?? NONE,
    connection_id: (isFailure ? record.connectionId : null) ?? NONE,
    api_key_id: (isFailure ? record.apiKeyId : null) ?? NONE,
    by_sandbox: scenario !== undefined,
  };
  return JSON.stringify(tally);
}

/**
 * Adds a batch to the hours, in the order of the key, so that two instances cannot deadlock. A text without parameters, which follows the
 * COPY of the batch.
 */
export function hoursSql(rows: readonly { readonly id: string; readonly tally: string }[]): string {
  const counts = new Map<string, { count: number; last_id: string }>();
  for (const { id, tally } of rows) {
    const found = counts.get(tally);
    if (found === undefined) counts.set(tally, { count: 1, last_id: id });
    else {
      found.count++;
      if (id > found.last_id) found.last_id = id;
    }
  }
  const tallies = [...counts].map(([tally, count]) => ({ ...(JSON.parse(tally) as Tally), ...count }));
  return `
    INSERT INTO exchange_hours AS h (hour, direction, interface, route, status, error_code, result, failure,
      hauler_id, connection_id, api_key_id, by_sandbox, count, last_id)
    SELECT to_timestamp(hour), direction, interface, route, status, error_code, result, failure,
      hauler_id, connection_id, api_key_id, by_sandbox, count, last_id
    FROM json_to_recordset(${escapeLiteral(JSON.stringify(tallies))}) AS t (hour bigint, direction text, interface text, route text,
      status smallint, error_code text, result text, failure text, hauler_id uuid, connection_id uuid, api_key_id uuid,
      by_sandbox boolean, count bigint, last_id uuid)
    ORDER BY hour, direction COLLATE "C", interface COLLATE "C", route COLLATE "C", status, error_code COLLATE "C",
      result COLLATE "C", failure COLLATE "C", hauler_id, connection_id, api_key_id, by_sandbox
    ON CONFLICT (hour, direction, interface, route, status, error_code, result, failure, hauler_id, connection_id, api_key_id, by_sandbox)
    DO UPDATE SET count = h.count + excluded.count, last_id = greatest(h.last_id, excluded.last_id)`;
}

/** A call to the interface of a partner, as the hours of its connection count it. */
export interface ConnectionCall {
  readonly id: string;
  readonly haulerId: string;
  readonly connectionId: string;
  readonly isFailed: boolean;
}

/**
 * Undefined for any other exchange. A file comes from another host than the interface; a fault of the sandbox and a replay say nothing
 * about the partner; that it does not know a clip request (404) is an answer.
 */
export function connectionCall({ id, haulerId, connectionId, ...record }: ExchangeRecord): ConnectionCall | undefined {
  const { direction, route, status, failure, scenario, replayOf } = record;
  if (direction !== 'outbound' || haulerId === null || connectionId === null) return undefined;
  if (route === 'download' || scenario !== undefined || replayOf !== undefined) return undefined;
  const isAnswer = status < 400 || (status === 404 && route === 'listVideos');
  return { id, haulerId, connectionId, isFailed: status === 0 || failure !== undefined || !isAnswer };
}

/** Adds the calls of a batch to the hours of their connections, in the order of the key; undefined without one. */
export function connectionHoursSql(rows: readonly { readonly call: ConnectionCall | undefined }[]): string | undefined {
  const calls = rows.flatMap(({ call }) => call ?? []);
  if (calls.length === 0) return undefined;
  const values = calls.map(({ id, haulerId, connectionId, isFailed }) => ({
    hour: Math.floor(timeOfUuidv7(id) / HOUR_MS) * HOUR_SECONDS,
    hauler_id: haulerId,
    connection_id: connectionId,
    failed: isFailed,
    id,
  }));
  return `
    INSERT INTO connection_hours AS h (hauler_id, connection_id, hour, calls, failed, last_success_id, last_failure_id)
    SELECT hauler_id, connection_id, to_timestamp(hour), count(*), count(*) FILTER (WHERE failed),
      (array_agg(id ORDER BY id DESC) FILTER (WHERE NOT failed))[1], (array_agg(id ORDER BY id DESC) FILTER (WHERE failed))[1]
    FROM json_to_recordset(${escapeLiteral(JSON.stringify(values))})
      AS t (hauler_id uuid, connection_id uuid, hour bigint, failed boolean, id uuid)
    GROUP BY hauler_id, connection_id, hour ORDER BY hauler_id, connection_id, hour
    ON CONFLICT (hauler_id, connection_id, hour) DO UPDATE SET calls = h.calls + excluded.calls, failed = h.failed + excluded.failed,
      last_success_id = greatest(h.last_success_id, excluded.last_success_id),
      last_failure_id = greatest(h.last_failure_id, excluded.last_failure_id)`;
}
