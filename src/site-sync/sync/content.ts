import { hash } from 'node:crypto';
import type { Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import type { Kind } from './kinds.js';
import type { Cell } from './send-rows.js';

/** A record as it was read of a partner's answer. */
export type PartnerRecord<K extends Kind = Kind> = { sites: Site; kiosks: Kiosk; materials: Material }[K];

/** Content columns of each kind's table, with their types. */
export const CONTENT_COLUMNS = {
  sites: { name: 'text', line1: 'text', city: 'text', state: 'text', country: 'text', zip_code: 'text' },
  kiosks: { site_external_id: 'uuid', name: 'text' },
  materials: { site_external_id: 'uuid', kiosk_external_id: 'uuid', material_type: 'text', measure_unit: 'text' },
} as const;

/**
 * What of a record is content, in the order of the columns: all but its id, `updatedAt`, and `active`, whose changes have
 * names of their own. Digests that are stored were made of this form: an address is a list of its own.
 */
const contentOf: { readonly [K in Kind]: (record: PartnerRecord<K>) => (Cell | undefined | readonly Cell[])[] } = {
  sites: ({ name, address: at }) => [name, at && [at.line1, at.city, at.state, at.country, at.zipCode]],
  kiosks: ({ siteId, name }) => [siteId, name],
  materials: ({ siteId, kioskId, materialType, measureUnit }) => [siteId, kioskId, materialType, measureUnit],
};

/** A record's content in the order of `CONTENT_COLUMNS`. */
export function contentCells<K extends Kind>(kind: K, record: PartnerRecord<K>): Cell[] {
  const cells = contentOf[kind](record).flat();
  return Object.keys(CONTENT_COLUMNS[kind]).map((_, i) => cells[i] ?? null);
}

/** The first half of a SHA-256 of a record's content, in hex: equal for records that differ in nothing that is stored (decision 34). */
export function contentDigest<K extends Kind>(kind: K, record: PartnerRecord<K>): string {
  return hash('sha256', JSON.stringify(contentOf[kind](record)), 'hex').slice(0, 32);
}
