import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { findKeyPrefixes } from '../auth/api-key.repository.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { type HistoryEntry, MAX_HISTORY } from '../contracts/admin/history.dto.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import { apiError } from '../errors/app-error.js';
import { callOf, exchangeEntry, ExchangeHistory, historyPage } from '../exchanges/exchange-history.service.js';
import type { NamedExchangeRow } from '../exchanges/exchanges.repository.js';
import { changedFields } from './ticket-queries.js';
import { TicketEntity, TicketRevisionEntity } from './ticket.entity.js';

type Stored = Omit<TicketRevisionEntity, 'body' | 'haulerId' | 'ticketId'>;

const TEXTS: Readonly<Record<string, string>> = {
  created: 'The push created the ticket.',
  updated: 'The push updated the ticket.',
  stale: 'A newer push is stored: this one is kept in the history and changed no contents.',
};

/** The pushes of a ticket, and the refused ones that named its numbers. */
@Injectable()
export class TicketHistory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly exchanges: ExchangeHistory,
  ) {}

  /** Newest first. Stored pushes are always listed, refused ones while their exchanges are retained. */
  async list(id: string, query: ListQuery): Promise<List<HistoryEntry>> {
    const ticket = await this.dataSource.manager.findOneBy(TicketEntity, { id });
    if (ticket === null) throw apiError(ADMIN_API, 'notFound', `there is no ticket ${id}`);
    const numbers = [ticket.inboundNumber, ticket.outboundNumber].filter((number) => number !== null);
    const calls = await this.exchanges.find(ticket.haulerId, [
      { kind: 'ticketId', value: id },
      ...numbers.map((value) => ({ kind: 'ticketNumber', value }) as const),
    ]);
    const stored = await this.stored(ticket);
    const callsById = new Map(calls.map((call) => [call.id, call]));
    const keyIds = stored.flatMap(({ apiKeyId }) => apiKeyId ?? []);
    const prefixes = await findKeyPrefixes(this.dataSource, keyIds);
    const pushes = stored.map((row) =>
      pushEntry(row, callsById.get(row.exchangeId ?? ''), prefixes.get(row.apiKeyId ?? '')),
    );
    const inRevision = new Set(stored.map(({ exchangeId }) => exchangeId));
    const others = calls.filter((call) => !inRevision.has(call.id) && !concernsAnother(call, id));
    const page = historyPage(id, [...pushes, ...others.map((call) => exchangeEntry(call))], query);
    return { ...page, data: await this.withChanges(ticket, page.data) };
  }

  private stored({ haulerId, id: ticketId }: TicketEntity): Promise<Stored[]> {
    return this.dataSource.manager.find(TicketRevisionEntity, {
      select: { revision: true, receivedAt: true, result: true, exchangeId: true, apiKeyId: true, requestId: true },
      where: { haulerId, ticketId },
      order: { revision: 'DESC' },
      take: MAX_HISTORY,
    });
  }

  /** Reads two bodies at a time, because a body may have a megabyte. */
  private async withChanges({ haulerId, id }: TicketEntity, entries: readonly HistoryEntry[]): Promise<HistoryEntry[]> {
    const result: HistoryEntry[] = [];
    for (const entry of entries) {
      const { revision } = entry;
      if (revision === undefined) {
        result.push(entry);
        continue;
      }
      const where = { haulerId, ticketId: id, revision: In([revision - 1, revision]) };
      const [before, after] = await this.dataSource.manager.find(TicketRevisionEntity, {
        where,
        order: { revision: 'ASC' },
      });
      const changes = before === undefined || after === undefined ? [] : changedFields(before.body, after.body);
      result.push({ ...entry, changes });
    }
    return result;
  }
}

function pushEntry(row: Stored, call: NamedExchangeRow | undefined, keyPrefix: string | undefined): HistoryEntry {
  return {
    at: formatInstant(row.receivedAt),
    event: 'push',
    text: TEXTS[row.result] ?? row.result,
    ...(call === undefined ? {} : callOf(call)),
    ...(row.exchangeId === null ? {} : { exchangeId: row.exchangeId }),
    ...(row.requestId === null ? {} : { requestId: row.requestId }),
    ...(row.apiKeyId === null ? {} : { apiKeyId: row.apiKeyId }),
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    result: row.result,
    revision: row.revision,
  };
}

/** An accepted push of another ticket with the same number, at another site. */
function concernsAnother({ refs }: NamedExchangeRow, id: string): boolean {
  const ticket = refs?.find((reference) => reference.startsWith('ticketId:'));
  return ticket !== undefined && ticket !== `ticketId:${id}`;
}
