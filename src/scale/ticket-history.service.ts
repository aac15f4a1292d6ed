import { DataSource, In, LessThan } from 'typeorm';
import { parseJson } from '../contracts/common/json.js';
import { readerOf } from '../contracts/common/fields/field.js';
import type { Violation } from '../contracts/common/violation.js';
import { CreateScaleTicketRequest, type TicketResult } from '../contracts/scale/scale.api.js';
import type { Sql } from '../core/database/sql.js';
import { amountsOf, changesOf, keptChanges, NO_CHANGES, type TicketForm } from './ticket-changes.rules.js';
import { TicketEntity, TicketRevisionEntity } from './ticket.entity.js';
import { findRevisionSizes, type RowSize } from './ticket-list.repository.js';
import { type TicketChanges, toPush } from './ticket.js';
import { newest } from './ticket.rules.js';
import { Injectable } from '@nestjs/common';
import { findKeyPrefixes } from '../auth/api-key.repository.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { HistoryEntry, MAX_HISTORY } from '../contracts/admin/history.dto.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import { present } from '../contracts/common/present.js';
import type { Reference, ReferenceKind } from '../contracts/common/references.js';
import { Database } from '../core/database/database.js';
import { apiError } from '../core/errors/app-error.js';
import { callOf, exchangeEntry, ExchangeHistory, historyPage } from '../exchanges/exchange-history.service.js';
import { shownReferences } from '../exchanges/references.rules.js';
import type { NamedExchangeRow } from '../exchanges/exchanges.repository.js';

/** How much of a page is read at once. A single row may be larger. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** A stored push with what it changed. */
export interface StoredPush {
  readonly row: TicketRevisionEntity;
  readonly changes: TicketChanges;
}

type TicketKey = Pick<TicketRevisionEntity, 'haulerId' | 'ticketId'>;

/** The revisions `first` to `last` of a ticket. */
export async function* readPushes(
  database: Sql,
  dataSource: DataSource,
  ticket: TicketKey,
  first: number,
  last: number,
): AsyncGenerator<StoredPush> {
  if (first > last) return;
  const comparison = new Comparison(dataSource, ticket);
  for (const chunk of chunksOf(await findRevisionSizes(database, ticket, first, last))) {
    const where = { ...ticket, revision: In(chunk) };
    const rows = await dataSource.manager.find(TicketRevisionEntity, { where, order: { revision: 'ASC' } });
    for (const row of rows) yield { row, changes: await comparison.changesOf(row) };
  }
}

interface InForce extends TicketForm {
  /** False if a flow that is absent here may have come with an earlier push. */
  readonly isWhole: boolean;
}

/**
 * Changes of revisions that do not have them: each is compared with what was in force when it arrived. Of the revisions before a
 * page one is read, that whose contents were in force.
 */
class Comparison {
  private inForce: InForce | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly ticket: TicketKey,
  ) {}

  async changesOf({ revision, body, result, changes }: TicketRevisionEntity): Promise<TicketChanges> {
    if (changes !== null) {
      this.inForce = undefined;
      return changes;
    }
    const before = this.inForce ?? (await this.formBefore(revision));
    const push = formIn(body);
    this.inForce = push && applied(before, push, result);
    if (before === undefined || this.inForce === undefined) return NO_CHANGES;
    return keptChanges(changesOf(withFlows(before, this.inForce), this.inForce));
  }

  private async formBefore(revision: number): Promise<InForce | undefined> {
    if (revision === 1) return undefined;
    const where = { ...this.ticket, result: In(['created', 'updated']), revision: LessThan(revision) };
    const won = await this.dataSource.manager.findOne(TicketRevisionEntity, { where, order: { revision: 'DESC' } });
    const form = won === null ? undefined : formIn(won.body);
    return form && { ...form, isWhole: revision === 2 };
  }
}

/** What is in force after a push; undefined if that is not known. */
function applied(before: InForce | undefined, push: TicketForm, result: TicketResult): InForce | undefined {
  if (before === undefined) return result === 'stale' ? undefined : { ...push, isWhole: result === 'created' };
  const { inbound, outbound } = before.flows;
  return {
    contents: result === 'stale' ? before.contents : push.contents,
    flows: { inbound: newest(inbound, push.flows.inbound), outbound: newest(outbound, push.flows.outbound) },
    isWhole: before.isWhole,
  };
}

/** A flow that may have come earlier is not shown as added. */
function withFlows({ contents, flows, isWhole }: InForce, after: TicketForm): TicketForm {
  if (isWhole) return { contents, flows };
  const { inbound = after.flows.inbound, outbound = after.flows.outbound } = flows;
  return { contents, flows: { inbound, outbound } };
}

/** The ticket in a stored body; undefined if a later version of the contract does not accept it any more. */
function formIn(body: string): TicketForm | undefined {
  try {
    const violations: Violation[] = [];
    const request = readerOf(CreateScaleTicketRequest)(parseJson(body), '', violations);
    return violations.length === 0 ? toPush(request, '', body) : undefined;
  } catch {
    return undefined;
  }
}

/** Ids of rows that may be read together, in their order. */
export function chunksOf<Id>(sizes: readonly RowSize<Id>[]): Id[][] {
  const chunks: Id[][] = [];
  let free = 0;
  for (const { id, bytes } of sizes) {
    if (chunks.length === 0 || bytes > free) {
      chunks.push([]);
      free = MAX_CHUNK_BYTES;
    }
    chunks.at(-1)?.push(id);
    free -= bytes;
  }
  return chunks;
}

type Stored = Omit<TicketRevisionEntity, 'body' | 'changes' | 'haulerId' | 'ticketId'>;

/** At most `limit` pushes of a ticket without their bodies, the last first. */
export const lastPushes = (
  dataSource: DataSource,
  { haulerId, id: ticketId }: TicketEntity,
  limit: number,
): Promise<Stored[]> =>
  dataSource.manager.find(TicketRevisionEntity, {
    select: { revision: true, receivedAt: true, result: true, exchangeId: true, apiKeyId: true, requestId: true },
    where: { haulerId, ticketId },
    order: { revision: 'DESC' },
    take: limit,
  });

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
    const stored = await lastPushes(this.dataSource, ticket, MAX_HISTORY);
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
