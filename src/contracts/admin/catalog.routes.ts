import type { DtoClass } from '../common/fields/field.js';
import { Flag, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, nullable, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { Kiosk, Material, Site } from '../site/site.api.js';
import { ListQuery } from './list.dto.js';
import { HaulerId } from './fields.js';
import { type AdminRoutes, FOR_VIEWERS, list } from './route-helpers.js';

/** The filters that a partner has too. */
export class CatalogFilters extends ListQuery {
  @Flag('Active or inactive records only', inQuery, optional) active?: boolean;
  @Uuid("Records of this site only, also through its kiosks; the partner's id of the site", optional) siteId?: string;
}

export class CatalogQuery extends CatalogFilters {
  @Uuid('Records of this hauler only', optional) haulerId?: string;
  @Uuid('Records that this connection synchronised last', optional) connectionId?: string;
}

/** The fields that the platform adds to each kind of record. */
interface CatalogFields {
  id: string;
  externalId: string;
  haulerId: string;
  connectionId: string | null;
  active: boolean;
  deactivatedAt?: Instant;
  updatedAt?: Instant;
}

/** The class of a stored record: the fields of section 2.4a with the ids of the platform and of the partner. */
function stored<T extends object>(type: DtoClass<T>): DtoClass<T & CatalogFields> {
  class StoredRecord extends (type as DtoClass) implements CatalogFields {
    @Uuid('Id of the record in the platform') declare id: string;
    @Uuid("The partner's id, which tickets use") externalId!: string;
    @HaulerId() haulerId!: string;
    @Uuid('Connection that synchronised it', nullable) connectionId!: string | null;
    @Flag('Whether it is active') declare active: boolean;
    @Time('When the partner deactivated it or first omitted it; absent while it is active', optional)
    deactivatedAt?: Instant;
    @Time("The partner's `updatedAt`", optional) declare updatedAt?: Instant;
  }
  return StoredRecord as DtoClass<T & CatalogFields>;
}

export class CatalogSite extends stored(Site) {}

/** A stored kiosk; `siteId` is the partner's id. */
export class CatalogKiosk extends stored(Kiosk) {}

/** A stored material; `siteId` and `kioskId` are the partner's ids. */
export class CatalogMaterial extends stored(Material) {
  @TextList("All sites of a material that the partner lists under several; the partner's ids", optional)
  siteIds?: string[];
  @TextList("All kiosks of a material that the partner lists under several; the partner's ids", optional)
  kioskIds?: string[];
  @Text(
    'The issue flagged on the record, if any',
    optional,
    example('the kiosk 1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21 belongs to the site 0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10'),
  )
  flaggedReason?: string;
}

/** Sites, kiosks and materials as last synchronised. */
export const CATALOG_ROUTES = {
  listSites: list(FOR_VIEWERS, '/sites', CatalogSite, CatalogQuery, {
    summary: 'List sites',
    description: 'As last synchronised, newest first.',
    csv: true,
  }),
  listKiosks: list(FOR_VIEWERS, '/kiosks', CatalogKiosk, CatalogQuery, {
    summary: 'List kiosks',
    description: 'As last synchronised, newest first.',
    csv: true,
  }),
  listMaterials: list(FOR_VIEWERS, '/materials', CatalogMaterial, CatalogQuery, {
    summary: 'List materials',
    description: 'As last synchronised, newest first.',
    csv: true,
  }),
} as const satisfies AdminRoutes;
