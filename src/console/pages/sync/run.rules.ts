import type { SyncCounts, SyncRunCounts } from '../../../contracts/admin/sync-run.dto.js';
import { SYNC_KINDS, type SyncKind } from '../../../contracts/admin/sync.values.js';

/** `3 sites and 12 materials`, without what there is none of. */
export function countsOf(counts: readonly (readonly [count: number, kind: SyncKind])[]): string {
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, kind]) => `${count.toLocaleString()} ${count === 1 ? kind.slice(0, -1) : kind}`);
  const last = parts.pop() ?? 'no record';
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`;
}

/** The changes of a run in the order in which a bar stacks them. */
export const CHANGES = [
  { name: 'created', title: 'Created' },
  { name: 'updated', title: 'Updated' },
  { name: 'restored', title: 'Restored' },
  { name: 'deactivated', title: 'Deactivated' },
  { name: 'held', title: 'Held' },
  { name: 'quarantined', title: 'Quarantined' },
] as const;

export type ChangeName = (typeof CHANGES)[number]['name'];

/** The counts of all kinds together. */
export function totalsOf(counts: SyncRunCounts): SyncCounts {
  const names = Object.keys(counts.sites) as (keyof SyncCounts)[];
  const sum = (name: keyof SyncCounts) => SYNC_KINDS.reduce((total, kind) => total + counts[kind][name], 0);
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as unknown as SyncCounts;
}

export interface BarPart {
  readonly name: ChangeName;
  readonly count: number;
  /** Of the height of the chart. */
  readonly share: number;
}

/**
 * The parts of each bar. The height grows with the logarithm of the number of changes, so that a run with three changes
 * is visible beside one with a million.
 */
export function barsOf(all: readonly SyncRunCounts[]): BarPart[][] {
  const counts = all.map(totalsOf);
  const changes = (each: SyncCounts) => CHANGES.reduce((sum, { name }) => sum + each[name], 0);
  const highest = Math.max(1, ...counts.map(changes));
  return counts.map((each) => {
    const total = changes(each);
    const height = Math.log1p(total) / Math.log1p(highest);
    return CHANGES.filter(({ name }) => each[name] > 0).map(({ name }) => {
      return { name, count: each[name], share: (height * each[name]) / total };
    });
  });
}
