import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  Exchange,
  type ExchangeBody,
  type ExchangeDetail,
  type ExchangeList,
  ExchangeQuery,
  type ExplainedExchangeList,
  PartnerExchangeQuery,
  ReplayExchangesRequest,
} from '../contracts/admin/exchanges.routes.js';
import { fieldsOf } from '../contracts/common/fields/field.js';
import { present } from '../contracts/common/present.js';
import { DEFAULT_PAGE_SIZE } from '../contracts/common/pagination.dto.js';
import type { Reference } from '../contracts/common/references.js';
import { isUuid } from '../contracts/common/text.js';
import { cursorOf, filtersOf, invalidCursor, partsOf } from '../core/database/list-page.js';
import { timeOfUuidv7 } from '../core/database/uuid.js';
import { apiError } from '../core/errors/app-error.js';
import { ExchangeDecisions } from './exchange-decisions.service.js';
import { ExchangeLog } from './exchange-log.service.js';
import { BASE64, REDACTED_FORM, TRUNCATED } from './exchange-row.js';
import { type ExchangeListRow, ExchangesRepository, type FullExchangeRow } from './exchanges.repository.js';
import { filterOf, refuseUnknown, traceOf } from './exchange-filter.rules.js';
import { shownReferences } from './references.rules.js';
import { explain, factsOf, reasonSentence, type StoredPushes, ticketIdIn } from './explanation.rules.js';
import { redactBody } from './redaction.rules.js';

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
    private readonly decisions: ExchangeDecisions,
  ) {}

  /** The module of tickets provides what its history contains. */
  usePushes(pushes: StoredPushes): void {
    this.pushes = pushes;
  }

  /** `names` are the parameters that the caller sent: an unknown filter must not show everything. */
  async list(query: ExchangeQuery, names: readonly string[]): Promise<ExchangeList> {
    refuseUnknown(names, [...fieldsOf(ExchangeQuery).keys()]);
    const { rows, next } = await this.page(query);
    return { data: rows.map(toExchange), next };
  }

  /** Each with its explanation: a partner asks for one push, and reads why in the same call. */
  async listOwn(
    query: PartnerExchangeQuery,
    names: readonly string[],
    scope: ExchangeScope,
  ): Promise<ExplainedExchangeList> {
    refuseUnknown(names, [...fieldsOf(PartnerExchangeQuery).keys()]);
    const { rows, next } = await this.page(query, scope);
    const answers = new Map((await this.exchanges.answers(rows.map(({ id }) => id))).map((row) => [row.id, row]));
    const answered = rows.map((row) => ({ ...row, response_headers: answers.get(row.id)?.response_headers ?? null }));
    const facts = await factsOf(answered, this.pushes);
    const data = rows.map((row) => {
      const text = answers.get(row.id)?.response_text ?? undefined;
      return { ...toExchange(row), explanation: explain(row, text, facts.get(row.id)) };
    });
    return { data, next };
  }

  async get(id: string, scope?: ExchangeScope): Promise<ExchangeDetail> {
    const stored = await this.row(id);
    const [row = stored] = await this.decisions.complete([stored]);
    if (scope !== undefined && !isWithin(row, scope)) throw unknownExchange(id);
    const response = bodyOf(row.response_body, row.response_form, row.response_sha256, Number(row.response_bytes));
    const request = row.in_revision
      ? await this.pushBody(row)
      : bodyOf(row.request_body, row.request_form, row.request_sha256, Number(row.request_bytes));
    const { traceId, spanId, parentId } = traceOf(id, row.direction, traceparentIn(row));
    return {
      ...toExchange(row),
      traceId,
      spanId,
      ...(parentId === undefined ? {} : { parentSpanId: parentId }),
      request: { headers: headersIn(row.request_headers), ...(request === undefined ? {} : { body: request }) },
      response:
        row.response_headers === null
          ? null
          : { headers: headersIn(row.response_headers), ...(response === undefined ? {} : { body: response }) },
      explanation: explain(row, response?.text, (await factsOf([row], this.pushes)).get(id)),
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

  /** The newest exchanges of these haulers with an id or a request id, or that name one of the values; of all without haulers. */
  async naming(
    { text, references }: { readonly text: string; readonly references: readonly Reference[] },
    haulers: readonly string[] | undefined,
    limit: number,
  ): Promise<ExchangeListRow[]> {
    await this.log.flushForReader();
    const isOwn = ({ hauler_id: id }: ExchangeListRow) =>
      haulers === undefined || (id !== null && haulers.includes(id));
    const itself = isUuid(text) ? await this.exchanges.get(text) : undefined;
    const found = [
      ...(itself === undefined || !isOwn(itself) ? [] : [itself]),
      ...(await this.exchanges.find({ haulers, requestId: text }, limit)),
      ...(await this.exchanges.withReferences({ haulers }, references, limit)),
    ];
    const rows = [...new Map(found.map((row) => [row.id, row])).values()];
    return this.decisions.complete(rows.slice(0, limit));
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

  private async page(query: ExchangeQuery, scope?: ExchangeScope) {
    const { cursor, pageSize = DEFAULT_PAGE_SIZE } = query;
    const asked = ['exchanges', filtersOf({ ...query, ...scope })];
    const [before] = cursor === undefined ? [] : partsOf(cursor, asked).map(String);
    if (before !== undefined && !isUuid(before)) throw invalidCursor();
    const filter = { ...filterOf(query), ...scope, before };
    await this.log.flushForReader();
    const found = await this.exchanges.find(filter, pageSize + 1);
    const rows = await this.decisions.complete(found.slice(0, pageSize));
    const last = rows.at(-1);
    return { rows, next: found.length > pageSize && last !== undefined ? cursorOf(asked, [last.id]) : null };
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
}

const isWithin = (row: ExchangeListRow, scope: ExchangeScope): boolean =>
  scope.connectionId === undefined ? row.api_key_id === scope.apiKeyId : row.connection_id === scope.connectionId;

const unknownExchange = (id: string) => apiError(ADMIN_API, 'notFound', `there is no exchange ${id}`);

export const referencesIn = ({ refs }: Pick<ExchangeListRow, 'refs'>): Reference[] => shownReferences(refs);

function toExchange(row: ExchangeListRow): Exchange {
  return present(Exchange, {
    ...row,
    at: new Date(timeOfUuidv7(row.id)),
    status: row.status === 0 ? null : row.status,
    reasonText: row.reason === null ? undefined : reasonSentence({ ...row, reason: row.reason }),
    references: referencesIn(row),
  });
}

const traceparentIn = (row: FullExchangeRow) => headersIn(row.request_headers)['traceparent'];

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
