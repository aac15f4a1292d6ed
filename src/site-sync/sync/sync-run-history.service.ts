import { Injectable } from '@nestjs/common';
import { ActionLog, type StoredAction } from '../../auth/action-log.repository.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { HistoryEntry } from '../../contracts/admin/history.dto.js';
import type { List, ListQuery } from '../../contracts/admin/list.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import { apiError } from '../../core/errors/app-error.js';
import { exchangeEntry, ExchangeHistory, historyPage } from '../../exchanges/exchange-history.service.js';
import { attentionOf } from './sync-runs.service.js';
import { type RunRow, SyncRunsRepository } from './sync-runs.repository.js';

/** The calls of a synchronisation run, its result, and the decisions of admins about it. */
@Injectable()
export class SyncRunHistory {
  constructor(
    private readonly runs: SyncRunsRepository,
    private readonly exchanges: ExchangeHistory,
    private readonly actions: ActionLog,
  ) {}

  /** Newest first. A call is listed while its exchange is kept. */
  async list(id: string, query: ListQuery): Promise<List<HistoryEntry>> {
    const run = await this.runs.find(id);
    if (run === undefined) throw apiError(ADMIN_API, 'notFound', `there is no synchronisation run ${id}`);
    const calls = await this.exchanges.find(run.hauler_id, [{ kind: 'syncRunId', value: id }]);
    const { data: decisions } = await this.actions.list({ resource: `sync-run:${id}`, pageSize: MAX_PAGE_SIZE });
    const entries = [
      ...decisions.map(decisionEntry),
      ...endEntries(run),
      ...calls.map((call) => exchangeEntry(call)),
      ...(run.started_at === null ? [] : [stateEntry(run.started_at, 'The run began.')]),
    ];
    return historyPage(id, entries, query);
  }
}

const stateEntry = (at: Date, text: string): HistoryEntry => ({ at: formatInstant(at), event: 'state', text });

const DECISIONS: Readonly<Record<string, string>> = {
  confirmSyncRun: 'The held removals were confirmed, and applied',
  rejectSyncRun: 'The held removals were rejected: the records stay active',
};

function decisionEntry({ at, actor, action, changes }: StoredAction): HistoryEntry {
  const note = typeof changes?.['note'] === 'string' ? ` Note: ${changes['note']}` : '';
  return { at, event: 'decision', text: `${DECISIONS[action] ?? action}, by ${actor}.${note}` };
}

/** The end of the run with its own status: a decision of an admin changes the stored status later. */
function endEntries(run: RunRow): HistoryEntry[] {
  const { status, finished_at: at, error, counts, guard } = run;
  if (at === null) return [];
  const outcome = guard === null || status === 'held' ? status : 'held';
  const totals = Object.entries(counts).flatMap(([kind, count]) => {
    const named = Object.entries(count).filter(([, number]) => number > 0);
    return named.length === 0 ? [] : [`${kind} ${named.map(([name, number]) => `${number} ${name}`).join(', ')}`];
  });
  const { attention } = attentionOf(run);
  const held = (guard ?? []).map(({ kind, removed, of }) => `Held: the removal of ${removed} of ${of} ${kind}.`);
  const sentences = [
    `The run ended as ${outcome}.`,
    ...(totals.length === 0 ? [] : [`Records: ${totals.join('; ')}.`]),
    ...held,
    ...(attention === undefined ? [] : [attention]),
    ...(error === null ? [] : [error]),
  ];
  return [stateEntry(at, sentences.join(' '))];
}
