import type { SyncRunCounts } from '../../../contracts/admin/sync-runs.routes.js';
import { SYNC_KINDS, type SyncKind } from '../../../contracts/admin/sync.values.js';

/** `3 sites and 12 materials`, without what there is none of. */
export function countsOf(counts: readonly (readonly [count: number, kind: SyncKind])[]): string {
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count.toLocaleString()} ${count === 1 ? kind.slice(0, -1) : kind}`);
  const last = parts.pop() ?? 'no record';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

const CHANGES = ['created', 'updated', 'restored', 'deactivated', 'held', 'quarantined'] as const;

/** `5 created, 2 held`: the changes of all kinds together, without what there is none of. */
export function changesOf(counts: SyncRunCounts): string {
  const sums = CHANGES.map((name) => [SYNC_KINDS.reduce((sum, kind) => sum + counts[kind][name], 0), name] as const);
  const changes = sums.filter(([sum]) => sum > 0).map(([sum, name]) => `${sum.toLocaleString()} ${name}`);
  return changes.length === 0 ? 'none' : changes.join(', ');
}
