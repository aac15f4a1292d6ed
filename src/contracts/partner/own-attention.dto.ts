import { AttentionFacts, CheckResult } from '../admin/attention.routes.js';
import { Integer, NestedList, OneOf } from '../common/fields/decorators.js';
import { example } from '../common/fields/options.js';

const OF_EVERY_PARTNER = ['refused-keys', 'failing-calls'] as const;

/** What a partner sees of its connection: nothing of holds, of other partners or of the platform itself. */
export const OWN_ATTENTION_KINDS = {
  site: [...OF_EVERY_PARTNER, 'failing-runs', 'held-runs', 'quarantined-records', 'absent-lists'],
  vision: [
    ...OF_EVERY_PARTNER,
    'unread-windows',
    'downloads-at-risk',
    'failed-downloads',
    'expired-downloads',
    'failed-clips',
  ],
} as const;
export type OwnAttentionKind = (typeof OWN_ATTENTION_KINDS)['site' | 'vision'][number];

const KINDS = [...new Set([...OWN_ATTENTION_KINDS.site, ...OWN_ATTENTION_KINDS.vision])];

/** Something of the connection that its partner should look at. */
export class OwnAttentionItem extends AttentionFacts {
  @OneOf('The check', KINDS, example('failing-calls')) kind!: OwnAttentionKind;
}

/** One check of the connection, whether it found something or not. */
export class OwnCheckedKind extends CheckResult {
  @OneOf('The check', KINDS, example('failing-calls')) kind!: OwnAttentionKind;
}

/** What needs attention of a connection, and what was looked at. */
export class OwnAttention {
  @NestedList('By severity, then the nearest deadline, then the latest begin first', OwnAttentionItem)
  data!: OwnAttentionItem[];
  @Integer('Number of items; those beyond the list are of the lowest rank', example(3)) total!: number;
  @Integer('Number of problems: findings with one cause are one', example(2)) problems!: number;
  @NestedList('Each kind that is checked for this interface, once', OwnCheckedKind) checked!: OwnCheckedKind[];
}
