import type { Violation } from '../contracts/common/violation.js';
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  type Exchange,
  type ExchangeBody,
  type ExchangeDetail,
  type ExchangeList,
  ExchangeQuery,
  PartnerExchangeQuery,
  ReplayExchangesRequest,
} from '../contracts/admin/exchange.dto.js';
import { fieldsOf } from '../contracts/common/fields/documented.js';
import { epochMillis, formatInstant } from '../contracts/common/instant.js';
import { DEFAULT_PAGE_SIZE } from '../contracts/common/pagination.dto.js';
import { REPLAYED_HEADER } from '../contracts/common/idempotency.js';
import { parseReference, type Reference } from '../contracts/common/references.js';
import { VERSION_HEADER } from '../contracts/scale/scale.dto.js';
import { cursorOf, filtersOf, partsOf } from '../database/cursor.js';
import { timeOfUuidv7 } from '../database/uuid.js';
import { apiError, invalid } from '../errors/app-error.js';
import { ExchangeLog } from './exchange-log.service.js';
import { BASE64, REDACTED_FORM, TRUNCATED } from './body-cells.js';
import { type ExchangeListRow, ExchangesRepository, type FullExchangeRow } from './exchanges.repository.js';
import type { ExchangeFilter } from './exchange-list.sql.js';
import { shownReferences } from './exchange-references.rules.js';
import { explain, REPLAYED_REFUSAL } from './explanation.rules.js';
import { redactBody } from './redaction.rules.js';

/** The push whose contents are in force where a later one was stale. */
export interface WonPush {
  readonly receivedAt: Date;
  readonly keyPrefix: string | undefined;
}

/** Pushes as the history of their tickets has them. */
export interface StoredPushes {
  /** The body of the push of an exchange. */
  bodyOf(haulerId: string, ticketId: string, exchangeId: string): Promise<string | undefined>;
  /** The push whose contents were in force when the push of an exchange came (decision 21). */
  wonOver(haulerId: string, ticketId: string, exchangeId: string): Promise<WonPush | undefined>;
}

/** Only exchanges of this key, or only calls to the partner of this connection. The hauler helps to find them. */
export type ExchangeScope = { readonly haulerId?: string } & (
  { readonly apiKeyId: string; readonly connectionId?: undefined } | { readonly connectionId: string }
);

/** Lists and shows exchanges, for admins and for partners. */
@Injectable()
export class ExchangeQueries {
  private pushes: StoredPushes | undefined;

  constructor(
    private readonly exchanges: ExchangesRepository,
    private readonly log: ExchangeLog,
  ) {}

  /** The module of tickets provides what its history contains. */
  usePushes(pushes: StoredPushes): void {
    this.pushes = pushes;
  }

  /** `names` are the parameters that the caller sent: an unknown filter must not show everything. */
  async list(query: ExchangeQuery, names: readonly string[], scope?: ExchangeScope): Promise<ExchangeList> {
    refuseUnknown(names, [...fieldsOf(scope === undefined ? ExchangeQuery : PartnerExchangeQuery).keys()]);
    const { cursor, pageSize = DEFAULT_PAGE_SIZE } = query;
    const asked = ['exchanges', filtersOf({ ...query, ...scope })];
    const [before] = cursor === undefined ? [] : partsOf(cursor, asked).map(String);
    const filter = { ...filterOf(query), ...scope, before };
    await this.log.flushForReader();
    const rows = await this.exchanges.find(filter, pageSize + 1);
    const data = rows.slice(0, pageSize).map(toExchange);
    const last = data.at(-1);
    const next = rows.length > pageSize && last !== undefined ? cursorOf(asked, [last.id]) : null;
    return { data, next };
  }

  async get(id: string, scope?: ExchangeScope): Promise<ExchangeDetail> {
    const row = await this.row(id);
    if (scope !== undefined && !isWithin(row, scope)) throw unknownExchange(id);
    const response = bodyOf(row.response_body, row.response_form, row.response_sha256, Number(row.response_bytes));
    const request = row.in_revision
      ? await this.pushBody(row)
      : bodyOf(row.request_body, row.request_form, row.request_sha256, Number(row.request_bytes));
    return {
      ...toExchange(row),
      request: { headers: headersIn(row.request_headers), ...(request === undefined ? {} : { body: request }) },
      response:
        row.response_headers === null
          ? null
          : { headers: headersIn(row.response_headers), ...(response === undefined ? {} : { body: response }) },
      explanation: explain(row, response?.text, await this.factsOf(row)),
    };
  }

  async isStored(id: string): Promise<boolean> {
    return (await this.exchanges.get(id)) !== undefined;
  }

  /** The row as it is stored. Throws `notFound`. */
  async row(id: string): Promise<FullExchangeRow> {
    const stored = await this.exchanges.get(id);
    if (stored !== undefined) return stored;
    await this.log.flushForReader();
    const written = await this.exchanges.get(id);
    if (written === undefined) throw unknownExchange(id);
    return written;
  }

  /** The body of a request as it was received; empty without one, undefined if it is not kept whole. */
  async wholeRequest(row: FullExchangeRow): Promise<Buffer | undefined> {
    const { request_body: stored, request_form: form } = row;
    if (row.in_revision) {
      const pushed = await this.pushText(row);
      return pushed === undefined ? undefined : Buffer.from(pushed);
    }
    if (stored !== null) return form > BASE64 ? undefined : Buffer.from(stored, form === BASE64 ? 'base64' : 'utf8');
    const { 'transfer-encoding': coding } = headersIn(row.request_headers);
    return row.request_bytes === '0' && coding === undefined ? Buffer.alloc(0) : undefined;
  }

  /** The exchanges of a filter, newest first. `names` are the fields that the caller sent. */
  async matching(filter: ReplayExchangesRequest, names: readonly string[], limit: number): Promise<ExchangeListRow[]> {
    refuseUnknown(names, [...fieldsOf(ReplayExchangesRequest).keys()]);
    await this.log.flushForReader();
    return this.exchanges.find(filterOf(filter), limit);
  }

  private async pushBody(row: FullExchangeRow): Promise<ExchangeBody | undefined> {
    const pushed = await this.pushText(row);
    if (pushed === undefined) return undefined;
    const { text, isRedacted } = redactBody(pushed, 'signature', []);
    const hash = createHash('sha256').update(pushed).digest('hex');
    return {
      ...bodyOf(text, 0, hash, Number(row.request_bytes)),
      ...(isRedacted ? { redacted: true } : {}),
    } as ExchangeBody;
  }

  private async pushText(row: FullExchangeRow): Promise<string | undefined> {
    const ticketId = ticketIdIn(row);
    if (ticketId === undefined || row.hauler_id === null) return undefined;
    return this.pushes?.bodyOf(row.hauler_id, ticketId, row.id);
  }

  /** Whether a refusal was a replay, and what won over a stale push. */
  private async factsOf(row: FullExchangeRow): Promise<string[]> {
    const headers = headersNamed(row.response_headers);
    const ticketId = ticketIdIn(row);
    if (row.status >= 400 && headers[REPLAYED_HEADER.toLowerCase()] !== undefined) return [REPLAYED_REFUSAL];
    if (row.result !== 'stale' || ticketId === undefined || row.hauler_id === null) return [];
    const won = await this.pushes?.wonOver(row.hauler_id, ticketId, row.id);
    if (won === undefined) return [];
    const version = headers[VERSION_HEADER.toLowerCase()];
    const contents = version === undefined ? 'Newer contents' : `The contents of ${version}`;
    const key = won.keyPrefix === undefined ? '' : ` with the key ${won.keyPrefix}…`;
    return [`${contents} won: they were pushed${key} at ${formatInstant(won.receivedAt)}.`];
  }
}

function refuseUnknown(names: readonly string[], known: readonly string[]): void {
  const violations = names
    .filter((name) => !known.includes(name))
    .map((name): Violation => ({
      path: name.slice(0, 100),
      rule: 'isKnown',
      message: `${name.slice(0, 100)} is not a filter: use ${known.join(', ')}`,
    }));
  if (violations.length > 0) throw invalid(violations);
}

/** The filter without the cursor. */
function filterOf(query: Omit<ExchangeQuery, 'cursor' | 'pageSize'>): ExchangeFilter {
  const { direction, interface: name, haulerId, connectionId, apiKeyId, errorCode, requestId } = query;
  return {
    direction,
    interface: name,
    haulerId,
    connectionId,
    apiKeyId,
    errorCode,
    requestId,
    status: statusRange(query.status),
    reference: query.reference === undefined ? undefined : parseReference(query.reference),
    from: query.from === undefined ? undefined : epochMillis(query.from),
    to: query.to === undefined ? undefined : epochMillis(query.to),
  };
}

function statusRange(status: string | undefined): [number, number] | undefined {
  if (status === undefined) return undefined;
  if (status === 'none') return [0, 0];
  const hundreds = Number(status[0]) * 100;
  return status.endsWith('xx') ? [hundreds, hundreds + 99] : [Number(status), Number(status)];
}

const isWithin = (row: ExchangeListRow, scope: ExchangeScope): boolean =>
  scope.connectionId === undefined ? row.api_key_id === scope.apiKeyId : row.connection_id === scope.connectionId;

const unknownExchange = (id: string) => apiError(ADMIN_API, 'notFound', `there is no exchange ${id}`);

const ticketIdIn = (row: FullExchangeRow): string | undefined =>
  referencesIn(row).find(({ kind }) => kind === 'ticketId')?.value;

export const referencesIn = ({ refs }: Pick<ExchangeListRow, 'refs'>): Reference[] => shownReferences(refs);

function toExchange(row: ExchangeListRow): Exchange {
  return {
    id: row.id,
    at: formatInstant(new Date(timeOfUuidv7(row.id))),
    direction: row.direction,
    interface: row.interface,
    route: row.route,
    method: row.method,
    path: row.path,
    haulerId: row.hauler_id,
    connectionId: row.connection_id,
    apiKeyId: row.api_key_id,
    keyPrefix: row.key_prefix,
    requestId: row.request_id,
    status: row.status === 0 ? null : row.status,
    ...optional('failure', row.failure),
    ...optional('errorCode', row.error_code),
    ...optional('result', row.result),
    ...optional('ignoredFields', row.ignored_fields),
    durationMs: row.duration_ms,
    requestBytes: Number(row.request_bytes),
    responseBytes: Number(row.response_bytes),
    ...optional('replayOf', row.replay_of),
    ...optional('scenario', row.scenario),
    references: referencesIn(row),
  };
}

const optional = <Name extends string>(name: Name, value: string | null): Partial<Record<Name, string>> =>
  value === null ? {} : ({ [name]: value } as Partial<Record<Name, string>>);

/** By lower-case name. */
const headersNamed = (json: string | null): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headersIn(json ?? '{}')).map(([name, value]) => [name.toLowerCase(), value]));

export const headersIn = (json: string) => JSON.parse(json) as Record<string, string>;

function bodyOf(
  stored: string | null,
  form: number,
  sha256: string | null,
  sizeBytes: number,
): ExchangeBody | undefined {
  if (stored === null) return undefined;
  const isBase64 = (form & BASE64) !== 0;
  const bytes = () => Buffer.from(stored, isBase64 ? 'base64' : 'utf8');
  return {
    ...(isBase64 ? { base64: stored } : { text: stored }),
    sizeBytes,
    sha256: sha256 ?? createHash('sha256').update(bytes()).digest('hex'),
    truncated: (form & TRUNCATED) !== 0,
    ...((form & REDACTED_FORM) === 0 ? {} : { redacted: true }),
  };
}
