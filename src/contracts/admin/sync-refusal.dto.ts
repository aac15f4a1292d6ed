import { Integer, Json, OneOf, Text } from '../common/fields/decorators.js';
import { example, min, optional, type Options, between } from '../common/fields/options.js';
import { ListQuery } from './list.dto.js';
import { SYNC_KINDS, type SyncKind } from './sync.values.js';

const SYNC_SEVERITIES = ['quarantined', 'flagged'] as const;
type SyncSeverity = (typeof SYNC_SEVERITIES)[number];

/** More groups of refused records are not listed. */
export const MAX_REFUSALS = 100;

const Severity = () =>
  OneOf('`quarantined`: skipped, and the stored record did not change. `flagged`: stored.', SYNC_SEVERITIES);
const RuleCode = (...options: readonly Options[]) =>
  Text('Code of the rule, as in a violation', example('isEnum'), ...options);
const RuleId = () =>
  Text(
    'The rule of the conformance kit that the record breaks; absent if no rule checks it',
    optional,
    example('SITE-034'),
  );
const UNIT_VIOLATION = example(
  'materials[12].measureUnit must be one of Item, Ton, Pound, Kilogram, Cubic Yard, Cubic Meter',
);

/** The records of a run that break the same rule. */
export class RefusedRecords {
  @Severity() severity!: SyncSeverity;
  @OneOf('Kind of record', SYNC_KINDS, example('materials')) kind!: SyncKind;
  @Text('The field; `record` for the record as a whole', example('measureUnit')) field!: string;
  @RuleCode() rule!: string;
  @RuleId() ruleId?: string;
  @Integer('How many, also of those that are not listed', min(1), example(43)) count!: number;
  @Text('Number and fault in short', example('43 × wrong unit')) sentence!: string;
  @Text('Why the records break the rule', example('The value is not one of the allowed ones.')) cause!: string;
  @Text('What the partner should do', example('Send one of those that the message lists, with the same case.'))
  remedy!: string;
  @Text('The violation of one of them', UNIT_VIOLATION) example!: string;
}

export class QuarantineQuery extends ListQuery {
  @OneOf('Skipped or flagged records only', SYNC_SEVERITIES, optional) severity?: SyncSeverity;
  @OneOf('Records of this kind only', SYNC_KINDS, optional) kind?: SyncKind;
  @Text('Records with a fault in this field only; `record`: in the record as a whole', between(1, 100), optional)
  field?: string;
  @Text('Records that break this rule only', between(1, 64), optional) rule?: string;
}

/** A record that a run skipped, or stored with a flag. */
export class QuarantinedRecord {
  @Severity() severity!: SyncSeverity;
  @OneOf('Kind of record', SYNC_KINDS, example('materials')) kind!: SyncKind;
  @Text("Path in the `data` of the partner's response", example('materials[12].measureUnit')) path!: string;
  @Text('The violation, in a sentence', UNIT_VIOLATION) reason!: string;
  @RuleCode(optional) rule?: string;
  @RuleId() ruleId?: string;
  @Json(
    'The record as received, any JSON value; only its beginning, as text, if it is very long',
    {
      anyOf: [
        { type: 'object', additionalProperties: true, nullable: true },
        { type: 'array', items: {} },
        { type: 'string' },
        { type: 'number' },
        { type: 'boolean' },
      ],
    },
    example({ id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', measureUnit: 'Gallon' }),
  )
  raw!: unknown;
}
