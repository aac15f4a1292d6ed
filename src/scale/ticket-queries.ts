import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { findKeyPrefixes } from '../auth/api-key.repository.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { type Ticket, TicketPush, type TicketQuery } from '../contracts/admin/tickets.routes.js';
import { isJsonObject, JsonText, stringifyWithJsonText, withoutByteOrderMark } from '../contracts/common/json.js';
import { formatInstant, parseInstant } from '../contracts/common/instant.js';
import { present } from '../contracts/common/present.js';
import { MAX_SHOWN_PUSHES } from '../contracts/partner/partner-connection.routes.js';
import type { FlowData } from '../contracts/scale/scale.api.js';
import { positionedPage } from '../core/database/list-page.js';
import { apiError } from '../core/errors/app-error.js';
import type { StoredPushes, TicketPush as StoredTicketPush, WonPush } from '../exchanges/explanation.rules.js';
import type { JsonList } from '../core/http/answer.js';
import { TicketEntity, TicketRevisionEntity } from './ticket.entity.js';
import { findTicketPage, findWonPushes, type RowSize } from './ticket-list.repository.js';
import { chunksOf, lastPushes, readPushes, type StoredPush } from './ticket-history.service.js';
import type { ListQuery } from '../contracts/admin/list.dto.js';
import { Database } from '../core/database/database.js';

/** A DTO whose stored JSON is not parsed. */
type Unparsed<Dto, Stored extends keyof Dto> = {
  readonly [Name in keyof Dto]: Name extends Stored ? JsonText : Dto[Name];
};

/**
 * Tickets for the admin API, each as the JSON of its DTO. A page may have a hundred megabytes: it is read in chunks, as fast
 * as the client receives it, and its JSON is never parsed.
 */
@Injectable()
export class TicketQueries implements StoredPushes {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
  ) {}

  /** `Ticket`, the last received first. */
  async list(query: TicketQuery): Promise<JsonList> {
    const { rows, pagination } = await findTicketPage(this.database, query);
    return { data: this.tickets(rows), pagination };
  }

  /** `Ticket`. */
  async get(id: string): Promise<string> {
    return toTicketJson(await this.find(id));
  }

  /** `OwnTicket`. */
  async ofHauler(haulerId: string, id: string): Promise<string> {
    const ticket = await this.find(id, haulerId);
    const rows = await lastPushes(this.dataSource, ticket, MAX_SHOWN_PUSHES);
    const prefixes = await findKeyPrefixes(
      this.database,
      rows.flatMap(({ apiKeyId }) => apiKeyId ?? []),
    );
    const revisions = rows.map((row) => toPushDto(row, prefixes.get(row.apiKeyId ?? '')));
    return stringifyWithJsonText({ ...toTicketDto(ticket), revisions });
  }

  /** `TicketRevision`, the kept pushes, oldest first; for a partner those of a ticket of its hauler. */
  async revisions(id: string, query: ListQuery, ofHauler?: string): Promise<JsonList> {
    const { haulerId, revision: newest } = await this.find(id, ofHauler);
    // Revisions are numbered from 1, without gaps.
    const { first, end, pagination } = positionedPage(`revisions ${id}`, query, newest);
    return { data: this.pushes({ haulerId, ticketId: id }, first + 1, end), pagination };
  }

  async bodyOf(haulerId: string, ticketId: string, exchangeId: string): Promise<string | undefined> {
    const where = { haulerId, ticketId, exchangeId };
    return (await this.dataSource.manager.findOneBy(TicketRevisionEntity, where))?.body;
  }

  async wonOver(pushes: readonly StoredTicketPush[]): Promise<ReadonlyMap<string, WonPush>> {
    const rows = await findWonPushes(this.database, pushes);
    return new Map(
      rows.map(({ exchange_id, received_at, key_prefix, body }) => [
        exchange_id,
        { receivedAt: received_at, keyPrefix: key_prefix ?? undefined, version: versionIn(body) },
      ]),
    );
  }

  private async find(id: string, haulerId?: string): Promise<TicketEntity> {
    const where = haulerId === undefined ? { id } : { id, haulerId };
    const row = await this.dataSource.manager.findOneBy(TicketEntity, where);
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no ticket ${id}`);
    return row;
  }

  private async *tickets(sizes: readonly RowSize<string>[]): AsyncGenerator<string> {
    for (const chunk of chunksOf(sizes)) {
      const where = { id: In(chunk) };
      const rows = await this.dataSource.manager.find(TicketEntity, { where, order: { id: 'DESC' } });
      yield* rows.map(toTicketJson);
    }
  }

  private async *pushes(ticket: Pick<TicketRevisionEntity, 'haulerId' | 'ticketId'>, first: number, last: number) {
    const prefixes = new Map<string, string | undefined>();
    for await (const push of readPushes(this.database, this.dataSource, ticket, first, last)) {
      const { apiKeyId } = push.row;
      if (apiKeyId !== null && !prefixes.has(apiKeyId)) {
        prefixes.set(apiKeyId, (await findKeyPrefixes(this.database, [apiKeyId])).get(apiKeyId));
      }
      yield toRevisionJson(push, prefixes.get(apiKeyId ?? ''));
    }
  }
}

const toTicketJson = (row: TicketEntity): string => stringifyWithJsonText(toTicketDto(row));

function toTicketDto(row: TicketEntity): Unparsed<Ticket, 'materials' | 'customFields'> {
  return {
    id: row.id,
    haulerId: row.haulerId,
    siteId: row.siteId,
    materials: new JsonText(row.materials),
    inboundFlow: toFlowDto(row.inboundNumber, row.inboundUpdatedAt),
    outboundFlow: toFlowDto(row.outboundNumber, row.outboundUpdatedAt),
    customFields: row.customFields === null ? undefined : new JsonText(row.customFields),
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
}

function toFlowDto(ticketNumber: string | null, updatedAt: Date | null): FlowData | undefined {
  if (ticketNumber === null || updatedAt === null) return undefined;
  return { ticketNumber, updatedAt: formatInstant(updatedAt) };
}

function toRevisionJson({ row, changes }: StoredPush, keyPrefix: string | undefined): string {
  return stringifyWithJsonText({ ...toPushDto(row, keyPrefix), body: new JsonText(row.body), ...changes });
}

const toPushDto = (row: object, keyPrefix: string | undefined): TicketPush =>
  present(TicketPush, { ...row, keyPrefix });

/** The newest `updatedAt` of the flows of a push. */
function versionIn(body: string): string | undefined {
  const push: unknown = JSON.parse(withoutByteOrderMark(body));
  if (!isJsonObject(push)) return undefined;
  const times = [push['inboundFlow'], push['outboundFlow']].flatMap((flow) => {
    const time = isJsonObject(flow) ? flow['updatedAt'] : undefined;
    return typeof time === 'string' ? (parseInstant(time) ?? []) : [];
  });
  const newest = times.sort().at(-1);
  return newest === undefined ? undefined : formatInstant(newest);
}
