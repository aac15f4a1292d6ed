import type { SyncCounts } from '../../contracts/admin/sync-runs.routes.js';

/** The kinds of records. Parents come first, because they are applied in this order. */
export const KINDS = ['sites', 'kiosks', 'materials'] as const;
export type Kind = (typeof KINDS)[number];

export type KindCounts = Readonly<SyncCounts>;

export type RunCounts = Readonly<Record<Kind, KindCounts>>;

const NO_KIND_COUNTS: KindCounts = {
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

export function forEachKind<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return { sites: make('sites'), kiosks: make('kiosks'), materials: make('materials') };
}

export const NO_COUNTS: RunCounts = forEachKind(() => NO_KIND_COUNTS);
