import { Documented } from '../common/fields/documented.js';
import { DOCUMENTED_MAX } from '../common/fields/field.js';
import { EnumField, IntegerField, TextField } from '../common/fields/scalar-fields.js';
import { ListQuery } from './list.dto.js';
import { SYNC_KINDS, type SyncKind } from './sync-kinds.js';

const SYNC_SEVERITIES = ['quarantined', 'flagged'] as const;

/** More groups of refused records are not listed. */
export const MAX_REFUSALS = 100;

const SEVERITY = {
  description: '`quarantined`: skipped, and the stored record did not change. `flagged`: stored.',
  values: SYNC_SEVERITIES,
  example: 'quarantined',
} as const;
const FIELD = {
  description: 'The field; `record` for the record as a whole',
  min: 1,
  max: 100,
  example: 'measureUnit',
};
const RULE = { description: 'Code of the rule, as in a violation', min: 1, max: 64, example: 'isEnum' };
const RULE_ID = {
  description: 'The rule of the conformance kit that the record breaks; absent if no rule checks it',
  max: 20,
  example: 'SITE-034',
};

/** The records of a run that break the same rule. */
export class RefusedRecords {
  @EnumField(SEVERITY)
  severity!: (typeof SYNC_SEVERITIES)[number];

  @EnumField({ description: 'Kind of record', values: SYNC_KINDS, example: 'materials' })
  kind!: SyncKind;

  @TextField(FIELD)
  field!: string;

  @TextField(RULE)
  rule!: string;

  @TextField({ ...RULE_ID, optional: true })
  ruleId?: string;

  @IntegerField({
    description: 'How many, also of those that are not listed',
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    example: 43,
  })
  count!: number;

  @TextField({ description: 'Number and fault in short', max: 300, example: '43 × wrong unit' })
  sentence!: string;

  @TextField({
    description: 'Why the records break the rule',
    max: 500,
    example: 'The value is not one of the allowed ones.',
  })
  cause!: string;

  @TextField({
    description: 'What the partner should do',
    max: 500,
    example: 'Send one of those that the message lists, with the same case.',
  })
  remedy!: string;

  @TextField({
    description: 'The violation of one of them',
    max: 500,
    example: 'materials[12].measureUnit must be one of Item, Ton, Pound, Kilogram, Cubic Yard, Cubic Meter',
  })
  example!: string;
}

export class QuarantineQuery extends ListQuery {
  @EnumField({ description: 'Skipped or flagged records only', values: SYNC_SEVERITIES, optional: true })
  severity?: (typeof SYNC_SEVERITIES)[number];

  @EnumField({ description: 'Records of this kind only', values: SYNC_KINDS, optional: true })
  kind?: SyncKind;

  @TextField({
    ...FIELD,
    description: 'Records with a fault in this field only; `record`: in the record as a whole',
    optional: true,
  })
  field?: string;

  @TextField({ ...RULE, description: 'Records that break this rule only', optional: true })
  rule?: string;
}

/** A record that a run skipped, or stored with a flag. */
export class QuarantinedRecord {
  @EnumField(SEVERITY)
  severity!: (typeof SYNC_SEVERITIES)[number];

  @EnumField({ description: 'Kind of record', values: SYNC_KINDS, example: 'materials' })
  kind!: SyncKind;

  @TextField({
    description: "Path in the `data` of the partner's response",
    max: 500,
    example: 'materials[12].measureUnit',
  })
  path!: string;

  @TextField({
    description: 'The violation, in a sentence',
    max: 4000,
    example: 'materials[12].measureUnit must be one of Item, Ton, Pound, Kilogram, Cubic Yard, Cubic Meter',
  })
  reason!: string;

  @TextField({ ...RULE, optional: true })
  rule?: string;

  @TextField({ ...RULE_ID, optional: true })
  ruleId?: string;

  @Documented({
    description: 'The record as received, any JSON value; only its beginning, as text, if it is very long',
    anyOf: [
      { type: 'object', additionalProperties: true, nullable: true },
      { type: 'array', items: {} },
      { type: 'string', maxLength: DOCUMENTED_MAX },
      { type: 'number' },
      { type: 'boolean' },
    ],
    example: { id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', measureUnit: 'Gallon' },
  })
  raw!: unknown;
}
