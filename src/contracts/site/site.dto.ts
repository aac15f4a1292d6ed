import { BooleanField, EnumField, InstantField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { ArrayField, ObjectField } from '../common/fields/nested-fields.js';
import type { Instant } from '../common/instant.js';
import type { Violation } from '../common/violation.js';

export const MEASURE_UNITS = ['Item', 'Ton', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter'] as const;
export type MeasureUnit = (typeof MEASURE_UNITS)[number];

/** Query of `GET /scale-platform/v1/sites` (section 4.3). */
export class GetSitesQuery {
  @UuidField({ description: 'Hauler whose data is requested', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  haulerId!: string;
}

/** An address has all five fields (section 2.4a). */
export class Address {
  @TextField({ description: 'Street and number', max: 255, example: '4400 Landfill Road' })
  line1!: string;

  @TextField({ description: 'City', max: 100, example: 'Austin' })
  city!: string;

  @TextField({ description: 'State or province', max: 100, example: 'Texas' })
  state!: string;

  @TextField({ description: 'Country name', max: 100, example: 'United States' })
  country!: string;

  @TextField({ description: 'Postal code', max: 20, example: '78744' })
  zipCode!: string;
}

export class Site {
  @UuidField({ description: "Identifier in the partner's system", example: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10' })
  id!: string;

  @TextField({ description: 'Name of the disposal site', max: 255, example: 'Onion Creek Transfer Station' })
  name!: string;

  @ObjectField(() => Address, { description: 'Postal address', optional: true })
  address?: Address;

  @BooleanField({ description: 'Whether the site is in use; default true', optional: true, example: true })
  active?: boolean;

  @InstantField({ description: 'When the record was last changed', optional: true, example: '2026-01-15T10:00:00Z' })
  updatedAt?: Instant;
}

/** A station within a site. Partners without kiosks send none. */
export class Kiosk {
  @UuidField({ description: "Identifier in the partner's system", example: '1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21' })
  id!: string;

  @UuidField({ description: 'Site that the kiosk belongs to', example: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10' })
  siteId!: string;

  @TextField({ description: 'Name of the kiosk', max: 255, example: 'Inbound scale 1' })
  name!: string;

  @BooleanField({ description: 'Whether the kiosk is in use; default true', optional: true, example: true })
  active?: boolean;

  @InstantField({ description: 'When the record was last changed', optional: true, example: '2026-01-15T10:00:00Z' })
  updatedAt?: Instant;
}

/** Has a `siteId`, a `kioskId`, or both (decision 32). */
export class Material {
  @UuidField({ description: "Identifier in the partner's system", example: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21' })
  id!: string;

  @UuidField({
    description: 'Site that accepts the material; each material names a site, a kiosk, or both',
    optional: true,
    example: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
  })
  siteId?: string;

  @UuidField({
    description: 'Kiosk that accepts the material; each material names a site, a kiosk, or both',
    optional: true,
    example: '1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21',
  })
  kioskId?: string;

  @TextField({ description: 'Type or category', max: 100, example: 'Mixed construction debris' })
  materialType!: string;

  @EnumField({ description: 'Unit in which the material is measured', values: MEASURE_UNITS, example: 'Ton' })
  measureUnit!: MeasureUnit;

  @BooleanField({
    description: 'Whether the material is accepted now; default true',
    optional: true,
    example: true,
  })
  active?: boolean;

  @InstantField({ description: 'When the record was last changed', optional: true, example: '2026-01-15T10:00:00Z' })
  updatedAt?: Instant;
}

/**
 * Whether a material has neither a site nor a kiosk (section 2.4a); `null` counts as absent. A malformed id counts as
 * present, because it is reported on its own.
 */
export const isWithoutParent = ({
  siteId,
  kioskId,
}: {
  readonly siteId?: unknown;
  readonly kioskId?: unknown;
}): boolean => siteId == null && kioskId == null;

/** The violation of a material of a response that `isWithoutParent`. */
export const missingParent = (path: string): Violation => ({
  path,
  rule: 'hasParent',
  message: `${path} has neither a siteId nor a kioskId`,
});

/** Records of a kind whose array is absent do not change (decision 35). */
export class SiteData {
  @ArrayField(() => Site, { description: 'Sites of the hauler', optional: true })
  sites?: Site[];

  @ArrayField(() => Kiosk, { description: 'Kiosks of the sites', optional: true })
  kiosks?: Kiosk[];

  @ArrayField(() => Material, { description: 'Materials that the sites or kiosks accept', optional: true })
  materials?: Material[];
}

/** Response of `GET /scale-platform/v1/sites` (section 2.4a). */
export class GetSitesResponse {
  @BooleanField({ description: 'Always true here', example: true })
  success!: boolean;

  @ObjectField(() => SiteData, { description: "The hauler's active sites, kiosks and materials" })
  data!: SiteData;
}
