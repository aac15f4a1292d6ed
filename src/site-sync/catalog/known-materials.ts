import { Injectable } from '@nestjs/common';
import type { CatalogLayout } from './catalog-checks.js';
import type { CatalogLookup } from './catalog.service.js';

interface Known {
  readonly number: number;
  /** When the first of them was learnt, by `performance.now()`. */
  readonly since: number;
  readonly materialsOf: Map<string, Set<string>>;
}

/**
 * After so long it is all looked up again. The number of a layout tells every change but those of a database that was set
 * back to an older copy while we ran, or whose triggers were off for a while.
 */
const LIFE_MS = 60_000;

/** Pairs of a site and a material that are remembered, of all haulers together: some ten megabytes. */
const MOST_PAIRS = 100_000;

/**
 * Which materials were found to be of which sites, and under which layout of their hauler's catalog. Whoever writes only
 * where the layouts still are those (`allUnmoved`) need not look the materials up: decision 24 holds as exactly as if it
 * had looked, on any number of instances. Only what is right is remembered, so what is new counts at once.
 */
@Injectable()
export class KnownMaterials {
  private readonly known = new Map<string, Known>();
  private pairs = 0;

  /** The layout of each hauler that is named; `undefined` where any of it is not known. */
  layoutsOf(lookups: readonly CatalogLookup[]): CatalogLayout[] | undefined {
    const oldest = performance.now() - LIFE_MS;
    const layouts = new Map<string, CatalogLayout>();
    for (const { haulerId, siteId, materialIds } of lookups) {
      const known = this.known.get(haulerId);
      if (known === undefined || known.since < oldest) return undefined;
      const materials = known.materialsOf.get(siteId);
      if (materials === undefined || !materialIds.every((id) => materials.has(id))) return undefined;
      if (!layouts.has(haulerId)) layouts.set(haulerId, { haulerId, number: known.number });
    }
    return [...layouts.values()];
  }

  /** All of it was found right by a statement that saw these layouts; of other haulers nothing is kept. */
  learn(lookups: readonly CatalogLookup[], layouts: readonly CatalogLayout[]): void {
    const numbers = new Map(layouts.map(({ haulerId, number }) => [haulerId, number]));
    for (const { haulerId, siteId, materialIds } of lookups) {
      const number = numbers.get(haulerId);
      if (number === undefined) continue;
      const { materialsOf } = this.under(haulerId, number);
      const materials = materialsOf.get(siteId) ?? new Set();
      materialsOf.set(siteId, materials);
      this.pairs -= materials.size;
      for (const id of materialIds) materials.add(id);
      this.pairs += materials.size;
    }
    // Learning all of it again costs less than keeping track of what was used last.
    if (this.pairs > MOST_PAIRS) this.forgetAll();
  }

  forget(lookups: readonly CatalogLookup[]): void {
    for (const { haulerId } of lookups) this.forgetHauler(haulerId);
  }

  private under(haulerId: string, number: number): Known {
    const known = this.known.get(haulerId);
    const since = performance.now();
    if (known?.number === number && known.since >= since - LIFE_MS) return known;
    this.forgetHauler(haulerId);
    const fresh = { number, since, materialsOf: new Map<string, Set<string>>() };
    this.known.set(haulerId, fresh);
    return fresh;
  }

  private forgetHauler(haulerId: string): void {
    for (const materials of this.known.get(haulerId)?.materialsOf.values() ?? []) this.pairs -= materials.size;
    this.known.delete(haulerId);
  }

  private forgetAll(): void {
    this.known.clear();
    this.pairs = 0;
  }
}
