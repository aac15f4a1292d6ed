import { Injectable } from '@nestjs/common';
import type { List, ListQuery } from '../../contracts/admin/list.dto.js';
import type { SyncTreeRecord, SyncTreeSite, TicketUse } from '../../contracts/admin/sync-runs.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { changedFields, SyncRunsService } from '../../site-sync/sync/sync-runs.service.js';
import { MAX_TICKETS, NO_SITE, RunTreeRepository, type TreeRow } from './run-tree.repository.js';

const MONTH_MS = 30 * 86_400_000;

/** What a run changed, as a tree of sites with their kiosks and materials. */
@Injectable()
export class RunTree {
  constructor(
    private readonly runs: SyncRunsService,
    private readonly tree: RunTreeRepository,
  ) {}

  async list(runId: string, query: ListQuery): Promise<List<SyncTreeSite>> {
    const haulerId = await this.runs.haulerOf(runId);
    const { rows, pagination } = await this.tree.sites(runId, query);
    const ids = rows.map(({ site_id: id }) => id);
    const from = Date.now() - MONTH_MS;
    const [records, names, uses] = await Promise.all([
      this.tree.records(runId, ids),
      this.tree.siteNames(haulerId, ids),
      this.tree.ticketUse(haulerId, ids, from),
    ]);
    const of = Map.groupBy(records, ({ siteId }) => siteId);
    const data = ids.map((id): SyncTreeSite => {
      const [site, children] = split(of.get(id) ?? []);
      const use = uses.find((each) => each.site_id === id);
      const tickets = use?.tickets ?? 0;
      const useOf = (count: number): TicketUse => ({ count, more: tickets === MAX_TICKETS });
      return {
        externalId: id === NO_SITE ? null : id,
        name: names.get(id) ?? site?.name ?? null,
        change: site?.change ?? null,
        changes: site === undefined ? [] : changedFields(site),
        tickets: useOf(tickets),
        ticketsFrom: formatInstant(new Date(from)),
        haulerId,
        total: of.get(id)?.[0]?.total ?? 0,
        records: children.map((row) => toRecord(row, (materialId) => useOf(use?.materials?.[materialId] ?? 0))),
      };
    });
    return { data, pagination };
  }
}

function split(rows: readonly TreeRow[]): readonly [TreeRow | undefined, readonly TreeRow[]] {
  return [rows.find(({ kind }) => kind === 'sites'), rows.filter(({ kind }) => kind !== 'sites')];
}

function toRecord(row: TreeRow, useOf: (materialId: string) => TicketUse): SyncTreeRecord {
  const { kind, externalId, name, change } = row;
  const record = { kind, externalId, name, change, changes: changedFields(row) };
  return kind === 'materials' ? { ...record, tickets: useOf(externalId) } : record;
}
