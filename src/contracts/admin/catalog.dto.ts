import type { DtoClass } from '../common/fields/field.js';
import { BooleanField, InstantField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { TextListField } from '../common/fields/nested-fields.js';
import type { Instant } from '../common/instant.js';
import { Kiosk, Material, Site } from '../site/site.dto.js';
import { ListQuery } from './list.dto.js';

const ID = '0197a1d2-6c3f-7a10-9e5b-1d3f5a7c9e02';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const SITE_ID = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
const CONNECTION_ID = '0197a1cc-3b11-7d42-8c5e-6f8a0b2c4d68';

/** The filters that a partner has too. */
export class CatalogFilters extends ListQuery {
  @BooleanField({ description: 'Active or inactive records only', optional: true, inQuery: true })
  active?: boolean;

  @UuidField({
    description: "Records of this site only, also through its kiosks; the partner's id of the site",
    optional: true,
  })
  siteId?: string;
}

export class CatalogQuery extends CatalogFilters {
  @UuidField({ description: 'Records of this hauler only', optional: true })
  haulerId?: string;

  @UuidField({ description: 'Records that this connection synchronised last', optional: true })
  connectionId?: string;
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
    @UuidField({ description: 'Id of the record in the platform', example: ID })
    declare id: string;

    @UuidField({ description: "The partner's id, which tickets use", example: SITE_ID })
    externalId!: string;

    @UuidField({ description: 'Hauler that it belongs to', example: HAULER_ID })
    haulerId!: string;

    @UuidField({ description: 'Connection that synchronised it', nullable: true, example: CONNECTION_ID })
    connectionId!: string | null;

    @BooleanField({ description: 'Whether it is active', example: true })
    declare active: boolean;

    @InstantField({
      description: 'When the partner deactivated it or first omitted it; absent while it is active',
      optional: true,
      example: '2026-02-03T06:15:00Z',
    })
    deactivatedAt?: Instant;

    @InstantField({ description: "The partner's `updatedAt`", optional: true, example: '2026-01-15T10:00:00Z' })
    declare updatedAt?: Instant;
  }
  return StoredRecord as DtoClass<T & CatalogFields>;
}

/** A stored site. */
export class CatalogSite extends stored(Site) {}

/** A stored kiosk; `siteId` is the partner's id. */
export class CatalogKiosk extends stored(Kiosk) {}

/** A stored material; `siteId` and `kioskId` are the partner's ids. */
export class CatalogMaterial extends stored(Material) {
  @TextListField({
    description: "All sites of a material that the partner lists under several; the partner's ids",
    optional: true,
    maxLength: 36,
    example: [SITE_ID, '2d7e8b10-9c44-4f3a-8b6e-5a1f0c9d3e72'],
  })
  siteIds?: string[];

  @TextListField({
    description: "All kiosks of a material that the partner lists under several; the partner's ids",
    optional: true,
    maxLength: 36,
    example: ['1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21', '3e8f9c21-0d55-4a4b-9c7f-6b201dae4f83'],
  })
  kioskIds?: string[];

  @TextField({
    description: 'The issue flagged on the record, if any',
    max: 500,
    optional: true,
    example: 'the kiosk 1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21 belongs to the site 0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
  })
  flaggedReason?: string;
}
