import type { Instant } from '../../contracts/common/instant.js';
import type { Kiosk } from '../../contracts/site/site.dto.js';

/** What is stored of a kiosk and matters to what hangs on it. */
export interface StoredKiosk {
  readonly siteId: string;
  readonly updatedAt: Instant | null;
}

/** What is stored of a hauler and may be a parent, by the partner's ids; inactive ones too. */
export interface StoredParents {
  readonly sites: ReadonlySet<string>;
  readonly kiosks: ReadonlyMap<string, StoredKiosk>;
}

/** `updatedAt` older than the stored one (decision 34); without either nothing can be said. */
function isStale(given: Instant | undefined, stored: Instant | null): boolean {
  return given !== undefined && stored !== null && given < stored;
}

/** Every site and kiosk that a record of an answer may name: what is stored, and what the answer has brought so far. */
export class KnownParents {
  private readonly sites = new Set<string>();
  /** Of each kiosk of the answer the site that will be stored. */
  private readonly kiosks = new Map<string, string>();

  constructor(private readonly stored: StoredParents) {}

  addSite(id: string): void {
    this.sites.add(id);
  }

  /** What is stored outlives a stale kiosk. */
  addKiosk({ id, siteId, updatedAt }: Kiosk): void {
    const stored = this.stored.kiosks.get(id);
    this.kiosks.set(id, stored !== undefined && isStale(updatedAt, stored.updatedAt) ? stored.siteId : siteId);
  }

  hasSite(id: string): boolean {
    return this.sites.has(id) || this.stored.sites.has(id);
  }

  hasKiosk(id: string): boolean {
    return this.kiosks.has(id) || this.stored.kiosks.has(id);
  }

  /** Whether the answer itself has brought the kiosk: else a later element may still change what is stored of it. */
  isKioskOfAnswer(id: string): boolean {
    return this.kiosks.has(id);
  }

  siteOfKiosk(id: string): string | undefined {
    return this.kiosks.get(id) ?? this.stored.kiosks.get(id)?.siteId;
  }
}
