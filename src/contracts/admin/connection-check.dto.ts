import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { ArrayField, TextListField } from '../common/fields/nested-fields.js';
import { BooleanField, EnumField, IntegerField, TextField } from '../common/fields/scalar-fields.js';

export const RULE_OUTCOMES = ['passed', 'failed', 'warning', 'not-applicable', 'not-proven', 'kit-error'] as const;

/** The outcome of one rule of the conformance kit. */
export class CheckedRule {
  @TextField({ description: 'Id of the rule', max: 20, example: 'SITE-034' })
  id!: string;

  @TextField({ description: 'Operation of the interface', max: 50, example: 'getSites' })
  operation!: string;

  @EnumField({
    description: 'Its outcome; a warning does not affect `conforms`',
    values: RULE_OUTCOMES,
    example: 'failed',
  })
  outcome!: (typeof RULE_OUTCOMES)[number];

  @TextField({
    description: 'What was found; empty if it passed',
    max: 2000,
    example: 'data.materials[12].measureUnit must be one of Item, Ton',
  })
  message!: string;

  @TextField({
    description: 'What to change',
    optional: true,
    max: 2000,
    example: 'Send materials[].measureUnit as one of Item, Ton.',
  })
  remedy?: string;
}

export class CheckConnectionRequest {
  @TextField({
    description:
      'Truck whose recordings are listed, and one of whose files is fetched; by default that of the newest subscription. Vision only',
    min: 1,
    max: MAX_PARTNER_ID,
    optional: true,
    example: 'TRUCK-7',
  })
  truckId?: string;
}

/** The result of calls to the partner. */
export class ConnectionCheck {
  @BooleanField({ description: 'The partner answered', example: true })
  reachable!: boolean;

  @BooleanField({ description: 'It refused none of the calls for their key', example: true })
  authorized!: boolean;

  @BooleanField({
    description:
      'True if everything that the check can prove is proven, false if a rule failed; null if nothing failed and something could not be proven',
    nullable: true,
    example: false,
  })
  conforms!: boolean | null;

  @IntegerField({
    description: 'Rules that this check has proven; the others failed, or could not be proven',
    min: 0,
    max: 500,
    example: 61,
  })
  proven!: number;

  @IntegerField({ description: 'Rules that such a check can prove', min: 0, max: 500, example: 64 })
  of!: number;

  @TextListField({
    description: 'The findings, each a sentence',
    maxLength: 2000,
    max: 100,
    example: ['data.materials[12].measureUnit must be one of Item, Ton, Pound, Kilogram, Cubic Yard, Cubic Meter'],
  })
  findings!: string[];

  @ArrayField(() => CheckedRule, {
    max: 500,
    description:
      'The rules of the conformance kit, and of Vision `CHECK-LINK` and `CHECK-FILE`: one link and its file. Empty if the partner cannot be reached or refuses the key',
  })
  rules!: CheckedRule[];
}
