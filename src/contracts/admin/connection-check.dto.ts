import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { Flag, Integer, NestedList, OneOf, Text, TextList } from '../common/fields/decorators.js';
import { example, nullable, optional, between } from '../common/fields/options.js';

export const RULE_OUTCOMES = ['passed', 'failed', 'warning', 'not-applicable', 'not-proven', 'kit-error'] as const;

/** The outcome of one rule of the conformance kit. */
export class CheckedRule {
  @Text('Id of the rule', example('SITE-034')) id!: string;
  @Text('Operation of the interface', example('getSites')) operation!: string;
  @OneOf('Its outcome; a warning does not affect `conforms`', RULE_OUTCOMES, example('failed'))
  outcome!: (typeof RULE_OUTCOMES)[number];
  @Text('What was found; empty if it passed', example('data.materials[12].measureUnit must be one of Item, Ton'))
  message!: string;
  @Text('What to change', optional, example('Send materials[].measureUnit as one of Item, Ton.')) remedy?: string;
}

export class CheckConnectionRequest {
  @Text(
    'Truck whose recordings are listed, and one of whose files is fetched; by default that of the newest subscription. Vision only',
    between(1, MAX_PARTNER_ID),
    optional,
    example('TRUCK-7'),
  )
  truckId?: string;
}

/** The result of calls to the partner. */
export class ConnectionCheck {
  @Flag('The partner answered') reachable!: boolean;
  @Flag('It refused none of the calls for their key') authorized!: boolean;
  @Flag(
    'True if everything that the check can prove is proven, false if a rule failed; null if nothing failed and something could not be proven',
    nullable,
  )
  conforms!: boolean | null;
  @Integer('Rules that this check has proven; the others failed, or could not be proven', example(61)) proven!: number;
  @Integer('Rules that such a check can prove', example(64)) of!: number;
  @Integer('All rules for such a partner: the conformance kit proves the others', example(242)) ofKit!: number;
  @TextList('The findings, each a sentence') findings!: string[];
  @NestedList(
    'The rules of the conformance kit, and of Vision `CHECK-LINK` and `CHECK-FILE`: one link and its file. Empty if the partner cannot be reached or refuses the key',
    CheckedRule,
  )
  rules!: CheckedRule[];
}
