import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { findKeyPrefixes } from '../auth/api-key.repository.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { HistoryEntry, MAX_HISTORY } from '../contracts/admin/history.dto.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import { present } from '../contracts/common/present.js';
import type { Reference, ReferenceKind } from '../contracts/common/references.js';
import { Database } from '../core/database/database.js';
import { apiError } from '../core/errors/app-error.js';
import { callOf, exchangeEntry, ExchangeHistory, historyPage } from '../exchanges/exchange-history.service.js';
import { shownReferences } from '../exchanges/exchange-references.rules.js';
import type { NamedExchangeRow } from '../exchanges/exchanges.repository.js';
import { amountsOf } from './ticket-changes.rules.js';
import { formIn, readPushes } from './ticket-pushes.js';
import { TicketEntity, TicketRevisionEntity } from './ticket.entity.js';
import type { TicketChanges } from './ticket.js';

type Stored = Omit<TicketRevisionEntity, 'body' | 'changes' | 'haulerId' | 'ticketId'>;

const TEXTS: Readonly<Record<string, string>> = {
  created: 'The push created the ticket.',
  updated: 'The push updated the ticket.',
  stale: 'A newer push is stored: this one is kept in the history and changed no contents.',
};

/** The pushes of a ticket, and the refused ones that named its numbers. */
@Injectable()
export class TicketHistory {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly exchanges: ExchangeHistory,
  ) {}

  /** Newest first. Stored pushes are always listed, refused ones while their exchanges are retained. */
  async list(id: string, query: ListQuery): Promise<List<HistoryEntry>> {
    const ticket = await this.dataSource.manager.findOneBy(TicketEntity, { id });
    if (ticket === null) throw apiError(ADMIN_API, 'notFound', `there is no ticket ${id}`);
    const calls = await this.calls(ticket);
    const stored = await this.stored(ticket);
    const callsById = new Map(calls.map((call) => [call.id, call]));
    const keyIds = stored.flatMap(({ apiKeyId }) => apiKeyId ?? []);
    const prefixes = await findKeyPrefixes(this.database, keyIds);
    const pushes = stored.map((row) =>
      pushEntry(row, callsById.get(row.exchangeId ?? ''), prefixes.get(row.apiKeyId ?? '')),
    );
    const inRevision = new Set(stored.map(({ exchangeId }) => exchangeId));
    const others = calls.filter((call) => !inRevision.has(call.id) && !concernsAnother(call, ticket));
    const page = historyPage(id, [...pushes, ...others.map((call) => exchangeEntry(call))], query);
    return { ...page, data: await this.withChanges(ticket, page.data) };
  }

  /** The exchanges that name the ticket or one of its numbers, also one that it had before. */
  private async calls({ haulerId, id, inboundNumber, outboundNumber }: TicketEntity): Promise<NamedExchangeRow[]> {
    const named = [inboundNumber, outboundNumber].filter((number) => number !== null);
    const ofTicket: Reference = { kind: 'ticketId', value: id };
    const calls = await this.exchanges.find(haulerId, [ofTicket, ...named.map(ofNumber)]);
    const own = calls.filter((call) => valuesOf(call, 'ticketId').includes(id));
    const numbers = new Set(own.flatMap((call) => valuesOf(call, 'ticketNumber')));
    const earlier = [...numbers].filter((number) => !named.includes(number));
    if (earlier.length === 0) return calls;
    return this.exchanges.find(haulerId, [ofTicket, ...[...named, ...earlier].map(ofNumber)]);
  }

  private stored({ haulerId, id: ticketId }: TicketEntity): Promise<Stored[]> {
    return this.dataSource.manager.find(TicketRevisionEntity, {
      select: { revision: true, receivedAt: true, result: true, exchangeId: true, apiKeyId: true, requestId: true },
      where: { haulerId, ticketId },
      order: { revision: 'DESC' },
      take: MAX_HISTORY,
    });
  }

  private async withChanges(
    { haulerId, id: ticketId }: TicketEntity,
    entries: readonly HistoryEntry[],
  ): Promise<HistoryEntry[]> {
    const revisions = entries.flatMap(({ revision }) => revision ?? []);
    const found = new Map<number, TicketChanges & { readonly text?: string }>();
    const [first, last] = [Math.min(...revisions), Math.max(...revisions)];
    const ticket = { haulerId, ticketId };
    for await (const { row, changes } of readPushes(this.database, this.dataSource, ticket, first, last)) {
      const brought = row.result === 'created' ? formIn(row.body) : undefined;
      const text = brought && `The push created the ticket: ${amountsOf(brought)}.`;
      found.set(row.revision, { ...changes, ...(text && { text }) });
    }
    const calls = await this.unnamedCalls(haulerId, entries);
    return entries.map((entry) => {
      const call = calls.get(entry.exchangeId ?? '');
      return { ...(call && callOf(call)), ...entry, ...found.get(entry.revision ?? 0) } as HistoryEntry;
    });
  }

  /** The exchanges of pushes that name neither the ticket nor a number: of one without flows the answer was lost. */
  private async unnamedCalls(
    haulerId: string,
    entries: readonly HistoryEntry[],
  ): Promise<ReadonlyMap<string, NamedExchangeRow>> {
    const unnamed = entries.filter(({ revision, status, failure }) => revision && status === undefined && !failure);
    const calls = await this.exchanges.withIds(
      haulerId,
      unnamed.flatMap(({ exchangeId }) => exchangeId ?? []),
    );
    return new Map(calls.map((call) => [call.id, call]));
  }
}

function pushEntry(row: Stored, call: NamedExchangeRow | undefined, keyPrefix: string | undefined): HistoryEntry {
  return {
    ...(call === undefined ? {} : callOf(call)),
    ...present(HistoryEntry, {
      ...row,
      at: row.receivedAt,
      event: 'push',
      text: TEXTS[row.result] ?? row.result,
      keyPrefix,
    }),
  };
}

/** A push of another ticket with the same number: an accepted one, or one to another site that exists. */
function concernsAnother(call: NamedExchangeRow, { id, siteId }: TicketEntity): boolean {
  const [ticketId] = valuesOf(call, 'ticketId');
  if (ticketId !== undefined) return ticketId !== id;
  const [site] = valuesOf(call, 'siteId');
  return site !== undefined && site !== siteId && call.status === 422 && !call.result?.includes('siteExists');
}

const ofNumber = (value: string): Reference => ({ kind: 'ticketNumber', value });

const valuesOf = ({ refs }: NamedExchangeRow, kind: ReferenceKind): string[] =>
  shownReferences(refs).flatMap((reference) => (reference.kind === kind ? reference.value : []));
