import type { Kiosk, Material, Site } from '../../contracts/site/site.dto.js';
import { uuidv7 } from '../../database/uuid.js';
import { contentDigest, type PartnerRecord } from './content-digest.js';
import { type Cell, RowBatches } from './row-batches.js';
import type { Kind } from './kinds.js';

/** Content columns of each kind's table, with their types. */
export const CONTENT_COLUMNS = {
  sites: { name: 'text', line1: 'text', city: 'text', state: 'text', country: 'text', zip_code: 'text' },
  kiosks: { site_external_id: 'uuid', name: 'text' },
  materials: { site_external_id: 'uuid', kiosk_external_id: 'uuid', material_type: 'text', measure_unit: 'text' },
} as const;

/** The first columns of every staged record; without `accepted` it is only known not to be absent. */
const COMMON_COLUMNS = {
  external_id: 'uuid',
  accepted: 'boolean',
  id: 'uuid',
  active: 'boolean',
  digest: 'bytea',
  flagged_reason: 'text',
  partner_updated_at: 'timestamptz',
} as const;

/** The temporary table that takes the records of one answer. */
export function stagedTable(kind: Kind) {
  return { table: `staged_${kind}`, columns: { ...COMMON_COLUMNS, ...CONTENT_COLUMNS[kind] } };
}

const cellsOf: { readonly [K in Kind]: (record: PartnerRecord<K>) => Cell[] } = {
  sites: ({ name, address: at }: Site) => [
    name,
    at?.line1 ?? null,
    at?.city ?? null,
    at?.state ?? null,
    at?.country ?? null,
    at?.zipCode ?? null,
  ],
  kiosks: ({ siteId, name }: Kiosk) => [siteId, name],
  materials: ({ siteId, kioskId, materialType, measureUnit }: Material) => [
    siteId ?? null,
    kioskId ?? null,
    materialType,
    measureUnit,
  ],
};

/** The records of one kind on their way into the database. */
export class StagedRows<K extends Kind = Kind> {
  readonly batches: RowBatches;

  constructor(private readonly kind: K) {
    this.batches = new RowBatches(stagedTable(kind));
  }

  /** To be stored. `doubt`: why it is flagged. */
  accept(record: PartnerRecord<K>, doubt: string | undefined): void {
    const { id, active, updatedAt } = record;
    this.batches.add([
      id,
      't',
      uuidv7(),
      active === false ? 'f' : 't',
      `\\x${contentDigest(this.kind, record)}`,
      doubt ?? null,
      updatedAt ?? null,
      ...cellsOf[this.kind](record),
    ]);
  }

  /** Not to be stored, and not absent either: what is stored under this id stays (decision 33). */
  keep(id: string): void {
    this.batches.add([id, 'f']);
  }
}
