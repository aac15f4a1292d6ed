import { Decimal, Integer, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, optional, between } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { HAULER, TimeZone } from './fields.js';

/** Rows of a report: more keys would be no report. */
export const MAX_REPORT_ROWS = 10_000;

/** Groups by the value of one custom field. */
export const CUSTOM_FIELD = 'customField:';

export class TonnageQuery {
  @Uuid('Hauler of the tickets', example(HAULER)) haulerId!: string;
  @Time('Tickets first received at this time or later', inQuery, example('2026-01-01T00:00:00Z')) from!: Instant;
  @Time('Tickets first received before this time', inQuery, example('2026-02-01T00:00:00Z')) to!: Instant;
  @Text(
    'What has a row: `site`, `material`, `day`, or `customField:` with the name of a custom field',
    between(3, 300),
    { pattern: /^(site|material|day|customField:.+)$/su, form: 'site, material, day or customField:NAME' },
    example('site'),
  )
  groupBy!: string;
  @TimeZone() timeZone?: string;
}

const Quantity = (unit: string) => Decimal(`Quantity in the unit ${unit}, which has no weight`, optional, example(5));

/** Sums of the units that are not weights; one without any line is absent. */
export class OtherQuantities {
  @Quantity('Gallon') Gallon?: number;
  @Quantity('Cubic Yard') 'Cubic Yard'?: number;
  @Quantity('Cubic Meter') 'Cubic Meter'?: number;
  @Quantity('Item') Item?: number;
}

export class TonnageRow {
  @Text(
    "The partner's id of the site or material, the local day, or the value of the custom field; empty for tickets without the field",
    example('0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10'),
  )
  key!: string;
  @Text('Name of the site or material as last received, else the key', example('North')) name!: string;
  @Decimal(
    'Short tons: the sum of the quantities in Ton, Pound (2,000 are a ton) and Kilogram (907.18474 are a ton); reversals are negative. A sum beyond ±1.7976931348623157e308 is that number',
  )
  tons!: number;
  @Integer('Tickets', example(93)) tickets!: number;
  @Nested('What is in no unit of weight', OtherQuantities, example({ 'Cubic Yard': 5 })) other!: OtherQuantities;
}

export class Tonnage {
  @NestedList('Days in their order; all else the largest tonnage first', TonnageRow) data!: TonnageRow[];
  @OneOf('The unit of `tons`', ['short ton']) unit!: 'short ton';
}
