import { isWithoutParent } from '../../contracts/site/material-parents.js';
import type { Kiosk, Material } from '../../contracts/site/site.dto.js';
import type { PartnerRecord } from './content.js';
import type { Kind } from './kinds.js';
import type { KnownParents } from './known-parents.js';

/** A broken link: the field that is wrong (none: the record as a whole), and what is wrong as the end of a sentence. */
export interface BrokenLink {
  readonly field: string;
  readonly reason: string;
}

const unknown = (field: string, what: string): BrokenLink => ({
  field,
  reason: `is the id of no ${what} that is known`,
});

/** Why a record cannot be linked, given all that is known by now (decision 32). */
export function brokenLink<K extends Kind>(
  kind: K,
  record: PartnerRecord<K>,
  parents: KnownParents,
): BrokenLink | undefined {
  if (kind === 'sites') return undefined;
  const { siteId, kioskId } = record as Kiosk & Material;
  if (kind === 'materials' && isWithoutParent({ siteId, kioskId })) {
    return { field: '', reason: 'has neither a siteId nor a kioskId' };
  }
  if (siteId !== undefined && !parents.hasSite(siteId)) return unknown('siteId', 'site');
  if (kioskId !== undefined && !parents.hasKiosk(kioskId)) return unknown('kioskId', 'kiosk');
  return undefined;
}

/** Both links, and the kiosk belongs to another site: kept and flagged with this reason (decision 32). */
export function doubtfulLink({ siteId, kioskId }: Material, parents: KnownParents): string | undefined {
  if (siteId === undefined || kioskId === undefined) return undefined;
  const other = parents.siteOfKiosk(kioskId);
  return other === undefined || other === siteId ? undefined : `the kiosk ${kioskId} belongs to the site ${other}`;
}
