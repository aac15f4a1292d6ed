import { AttentionFacts, CheckResult, MAX_ATTENTION } from '../admin/attention.dto.js';
import { Documented } from '../common/fields/documented.js';
import { EnumField, IntegerField } from '../common/fields/scalar-fields.js';

const OF_EVERY_PARTNER = ['refused-keys', 'failing-calls'] as const;

/** What a partner is told of its connection: nothing of holds, of other partners or of the platform itself. */
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
const KIND = { description: 'The check', values: KINDS, example: 'failing-calls' };

/** Something of the connection that its partner should look at. */
export class OwnAttentionItem extends AttentionFacts {
  @EnumField(KIND)
  kind!: OwnAttentionKind;
}

/** One check of the connection, whether it found something or not. */
export class OwnCheckedKind extends CheckResult {
  @EnumField(KIND)
  kind!: OwnAttentionKind;
}

/** What needs attention of a connection, and what was looked at. */
export class OwnAttention {
  @Documented({
    description: 'By severity, then the nearest deadline, then the latest begin first',
    type: OwnAttentionItem,
    isArray: true,
    maxItems: MAX_ATTENTION,
  })
  data!: OwnAttentionItem[];

  @IntegerField({
    description: 'Number of items; those beyond the list are of the lowest rank',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    example: 3,
  })
  total!: number;

  @Documented({
    description: 'Each kind that is checked for this interface, once',
    type: OwnCheckedKind,
    isArray: true,
    maxItems: KINDS.length,
  })
  checked!: OwnCheckedKind[];
}
