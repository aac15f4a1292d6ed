import { hash } from 'node:crypto';
import type { Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import type { Kind } from './kinds.js';

/** A record as it was read of a partner's answer. */
export type PartnerRecord<K extends Kind = Kind> = { sites: Site; kiosks: Kiosk; materials: Material }[K];

/** What of a record is content: all but its id, `updatedAt`, and `active`, whose changes have names of their own. */
const CONTENT: { readonly [K in Kind]: (record: PartnerRecord<K>) => readonly unknown[] } = {
  sites: ({ name, address: at }) => [name, at && [at.line1, at.city, at.state, at.country, at.zipCode]],
  kiosks: ({ siteId, name }) => [siteId, name],
  materials: ({ siteId, kioskId, materialType, measureUnit }) => [siteId, kioskId, materialType, measureUnit],
};

/** The first half of a SHA-256 of a record's content, in hex: equal for records that differ in nothing that is stored (decision 34). */
export function contentDigest<K extends Kind>(kind: K, record: PartnerRecord<K>): string {
  return hash('sha256', JSON.stringify(CONTENT[kind](record)), 'hex').slice(0, 32);
}
