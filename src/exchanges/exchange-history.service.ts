import { Injectable } from '@nestjs/common';
import { HistoryEntry, type HistoryEvent, MAX_HISTORY } from '../contracts/admin/history.dto.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import { present } from '../contracts/common/present.js';
import { positionedPage } from '../core/database/list-page.js';
import type { Reference } from '../contracts/common/references.js';
import { timeOfUuidv7 } from '../core/database/uuid.js';
import { ExchangeDecisions } from './exchange-decisions.service.js';
import { ExchangeLog } from './exchange-log.service.js';
import { type ExchangeListRow, ExchangesRepository, type NamedExchangeRow } from './exchanges.repository.js';
import { explain } from './explanation.rules.js';

/** Finds the exchanges that belong to the history of a record. */
@Injectable()
export class ExchangeHistory {
  constructor(
    private readonly exchanges: ExchangesRepository,
    private readonly log: ExchangeLog,
    private readonly decisions: ExchangeDecisions,
  ) {}

  /** The exchanges of a hauler that name one of the values, newest first, at most `MAX_HISTORY`. */
  async find(haulerId: string, references: readonly Reference[]): Promise<NamedExchangeRow[]> {
    await this.log.flushForReader();
    return this.decisions.complete(await this.exchanges.naming(haulerId, references, MAX_HISTORY));
  }

  /** Those of the exchanges of a hauler that are still kept. */
  async withIds(haulerId: string, ids: readonly string[]): Promise<NamedExchangeRow[]> {
    return this.decisions.complete(await this.exchanges.withIds(haulerId, ids));
  }
}

/** The facts of an exchange for the entry of an event that it caused. */
export function callOf(row: ExchangeListRow): Partial<HistoryEntry> {
  return present(HistoryEntry, { ...row, exchangeId: row.id, status: row.status === 0 ? null : row.status });
}

/** The entry of an exchange that is an event itself. */
export function exchangeEntry(row: NamedExchangeRow, event: HistoryEvent = eventOf(row)): HistoryEntry {
  return {
    at: formatInstant(new Date(timeOfUuidv7(row.id))),
    event,
    text: explain(row, row.response_text ?? undefined),
    ...callOf(row),
  };
}

function eventOf({ direction, status, failure }: ExchangeListRow): HistoryEvent {
  if (direction === 'outbound') return 'call';
  return failure === null && status < 400 ? 'push' : 'refused';
}

/**
 * A page of the newest `MAX_HISTORY` entries of the record `id`, newest first. Entries of the same time keep the later one
 * first.
 */
export function historyPage<Entry extends HistoryEntry>(
  id: string,
  entries: readonly Entry[],
  query: ListQuery,
): List<Entry> {
  const sorted = entries.toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const kept = sorted.slice(0, MAX_HISTORY);
  const { first, end, pagination } = positionedPage(`history ${id}`, query, kept.length);
  return { data: kept.slice(first, end), pagination };
}
