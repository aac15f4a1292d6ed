import { BooleanField } from '../common/fields/boolean-field.js';
import { InstantField } from '../common/fields/instant-field.js';
import { TextField, UuidField } from '../common/fields/text-fields.js';
import type { Instant } from '../common/instant.js';
import { PageQuery } from '../common/pagination.dto.js';
import { Kiosk, Material, Site } from '../site/site.dto.js';

const ID = '0197a1d2-6c3f-7a10-9e5b-1d3f5a7c9e02';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const SITE_ID = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
const CONNECTION_ID = '0197a1cc-3b11-7d42-8c5e-6f8a0b2c4d68';

export class CatalogQuery extends PageQuery {
  @UuidField({ description: 'Records of this hauler only', optional: true })
  haulerId?: string;

  @BooleanField({ description: 'Active or inactive records only', optional: true, inQuery: true })
  active?: boolean;

  @UuidField({
    description: "What belongs to this site only, through its kiosks too; the partner's id of the site",
    optional: true,
  })
  siteId?: string;
}

const ours = () => UuidField({ description: 'Our id of the record', example: ID });
const theirs = () => UuidField({ description: "The partner's id, by which tickets name it", example: SITE_ID });
const hauler = () => UuidField({ description: 'Hauler that it belongs to', example: HAULER_ID });
const connection = () =>
  UuidField({ description: 'Connection that it came through', nullable: true, example: CONNECTION_ID });
const isActive = () => BooleanField({ description: 'Whether it is in use', example: true });
const stamp = () =>
  InstantField({
    description: "The partner's `updatedAt`",
    optional: true,
    example: '2026-01-15T10:00:00Z',
  });

const inactiveSince = () =>
  InstantField({
    description: 'When it was told to be inactive, or was first missing; absent while it is active',
    optional: true,
    example: '2026-02-03T06:15:00Z',
  });

/** A site as it is stored: the fields of section 2.4a, our id beside the partner's. */
export class CatalogSite extends Site {
  @ours()
  declare id: string;

  @theirs()
  externalId!: string;

  @hauler()
  haulerId!: string;

  @connection()
  connectionId!: string | null;

  @isActive()
  declare active: boolean;

  @inactiveSince()
  deactivatedAt?: Instant;

  @stamp()
  declare updatedAt?: Instant;
}

/** A kiosk as it is stored; `siteId` is the partner's. */
export class CatalogKiosk extends Kiosk {
  @ours()
  declare id: string;

  @theirs()
  externalId!: string;

  @hauler()
  haulerId!: string;

  @connection()
  connectionId!: string | null;

  @isActive()
  declare active: boolean;

  @inactiveSince()
  deactivatedAt?: Instant;

  @stamp()
  declare updatedAt?: Instant;
}

/** A material as it is stored; `siteId` and `kioskId` are the partner's. */
export class CatalogMaterial extends Material {
  @ours()
  declare id: string;

  @theirs()
  externalId!: string;

  @hauler()
  haulerId!: string;

  @connection()
  connectionId!: string | null;

  @isActive()
  declare active: boolean;

  @inactiveSince()
  deactivatedAt?: Instant;

  @stamp()
  declare updatedAt?: Instant;

  @TextField({
    description: 'Why it is doubtful, where it is',
    max: 500,
    optional: true,
    example: 'the kiosk 1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21 belongs to the site 0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
  })
  flaggedReason?: string;
}
