import { Documented } from '../common/fields/documented.js';
import { ArrayField, ObjectField } from '../common/fields/nested-fields.js';
import { InstantField, IntegerField, NumberField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';

/** Rows of a report: more keys would be no report. */
export const MAX_REPORT_ROWS = 10_000;

/** Groups by the value of one custom field. */
export const CUSTOM_FIELD = 'customField:';

export class TonnageQuery {
  @UuidField({ description: 'Hauler of the tickets', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  haulerId!: string;

  @InstantField({
    description: 'Tickets first received at this time or later',
    inQuery: true,
    example: '2026-01-01T00:00:00Z',
  })
  from!: Instant;

  @InstantField({
    description: 'Tickets first received before this time',
    inQuery: true,
    example: '2026-02-01T00:00:00Z',
  })
  to!: Instant;

  @TextField({
    description: 'What has a row: `site`, `material`, `day`, or `customField:` with the name of a custom field',
    min: 3,
    max: 300,
    pattern: /^(site|material|day|customField:.+)$/su,
    form: 'site, material, day or customField:NAME',
    example: 'site',
  })
  groupBy!: string;

  @TextField({
    description:
      'Time zone whose days are counted, by its IANA name with the region, or as an offset such as `-06:00`; `UTC` by default',
    min: 1,
    max: 100,
    optional: true,
    example: 'America/Chicago',
  })
  timeZone?: string;
}

const quantity = (unit: string) =>
  NumberField({ description: `Quantity in the unit ${unit}, which has no weight`, optional: true, example: 5 });

/** Sums of the units that are not weights; one without any line is absent. */
export class OtherQuantities {
  @quantity('Gallon')
  Gallon?: number;

  @quantity('Cubic Yard')
  'Cubic Yard'?: number;

  @quantity('Cubic Meter')
  'Cubic Meter'?: number;

  @quantity('Item')
  Item?: number;
}

export class TonnageRow {
  @TextField({
    description:
      "The partner's id of the site or material, the local day, or the value of the custom field; empty for tickets without the field",
    max: 4_000,
    example: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10',
  })
  key!: string;

  @TextField({
    description: 'Name of the site or material as last received, else the key',
    max: 4_000,
    example: 'North',
  })
  name!: string;

  @NumberField({
    description:
      'Short tons: the sum of the quantities in Ton, Pound (2,000 are a ton) and Kilogram (907.18474 are a ton); reversals are negative',
    example: 1204.5,
  })
  tons!: number;

  @IntegerField({ description: 'Tickets', min: 0, max: Number.MAX_SAFE_INTEGER, example: 93 })
  tickets!: number;

  @ObjectField(() => OtherQuantities, { description: 'What is in no unit of weight', example: { 'Cubic Yard': 5 } })
  other!: OtherQuantities;
}

export class Tonnage {
  @ArrayField(() => TonnageRow, {
    description: 'Days in their order; all else the largest tonnage first',
    max: MAX_REPORT_ROWS,
  })
  data!: TonnageRow[];

  @Documented({ description: 'The unit of `tons`', type: 'string', enum: ['short ton'], example: 'short ton' })
  unit!: 'short ton';
}
