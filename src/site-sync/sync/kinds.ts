import type { SyncCounts } from '../../contracts/admin/sync-run.dto.js';

/** The three kinds of records, parents first: in this order they are applied. */
export const KINDS = ['sites', 'kiosks', 'materials'] as const;
export type Kind = (typeof KINDS)[number];

/** What a run did with the records of one kind, as an admin is told. */
export type KindCounts = Readonly<SyncCounts>;

export type RunCounts = Readonly<Record<Kind, KindCounts>>;

export const NO_KIND_COUNTS: KindCounts = {
  received: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  deactivated: 0,
  restored: 0,
  stale: 0,
  flagged: 0,
  held: 0,
  quarantined: 0,
};

export const NO_COUNTS: RunCounts = { sites: NO_KIND_COUNTS, kiosks: NO_KIND_COUNTS, materials: NO_KIND_COUNTS };

/** The same for each kind, made one by one. */
export function forEachKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return { sites: make('sites'), kiosks: make('kiosks'), materials: make('materials') };
}
