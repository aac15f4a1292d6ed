import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { Documented } from '../common/fields/documented.js';
import { field } from '../common/fields/field.js';
import { isJsonObject } from '../common/json.js';
import { ObjectField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';

/** Each is one check over everything that the service stores. */
export const ATTENTION_KINDS = [
  'outbound-off',
  'locked-haulers',
  'database-trouble',
  'missing-partitions',
  'storage-trouble',
  'kept-versions',
  'retention-stopped',
  'refused-keys',
  'failing-calls',
  'held-runs',
  'failing-runs',
  'quarantined-records',
  'absent-lists',
  'held-at-risk',
  'downloads-at-risk',
  'unread-windows',
  'failed-downloads',
  'expired-downloads',
  'failed-clips',
  'refused-pushes',
  'expiring-keys',
  'lost-exchanges',
  'failing-webhooks',
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

/** In the order of the list. */
export const SEVERITIES = ['now', 'soon', 'watch'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** More items are counted, not listed. */
export const MAX_ATTENTION = 200;

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const KIND = { description: 'The check', values: ATTENTION_KINDS, example: 'failed-downloads' };

/** The hauler of an item. */
export class AttentionHauler {
  @UuidField({ description: 'Id of the hauler', example: ID })
  id!: string;

  @TextField({ description: 'Its name', max: 255, example: 'Lone Star Hauling' })
  name!: string;
}

/** The connection of an item. */
export class AttentionConnection {
  @UuidField({ description: 'Id of the connection', example: ID })
  id!: string;

  @EnumField({ description: 'Its interface', values: ['site', 'vision'], example: 'vision' })
  interface!: 'site' | 'vision';
}

/** A call of the admin API that deals with an item. */
export class AttentionAction {
  @TextField({ description: 'What it does', max: 100, example: 'Fetch its recordings again' })
  title!: string;

  @EnumField({ description: 'Method', values: ['POST'], example: 'POST' })
  method!: 'POST';

  @TextField({ description: 'Path under `/admin/v1`', max: 500, example: '/recordings/retry' })
  path!: string;

  @field(
    { description: 'Its body', optional: true, example: { connectionId: ID, truckId: 'TRUCK-7' } },
    { type: 'object', additionalProperties: { type: 'string', maxLength: MAX_PARTNER_ID } },
    { rule: { name: 'isObject', validate: isJsonObject, must: 'must be an object' } },
  )
  body?: Record<string, string>;
}

/** What an item says to everybody who sees it. */
export class AttentionFacts {
  @EnumField({
    description: '`now`: something is lost or stands still; `soon`: it will be; `watch`: it is over, or far off',
    values: SEVERITIES,
    example: 'soon',
  })
  severity!: Severity;

  @IntegerField({ description: 'How many', min: 1, max: Number.MAX_SAFE_INTEGER, example: 12 })
  count!: number;

  @TextField({
    description: 'The truck, the key, the rule or the operation that it is about',
    max: MAX_PARTNER_ID,
    example: 'TRUCK-7',
  })
  subject!: string;

  @InstantField({ description: 'Since when', example: '2026-11-20T14:03:27.512Z' })
  since!: string;

  @InstantField({ description: 'When the next of it is lost or ends', optional: true })
  deadline?: string;

  @TextField({
    description: 'What is wrong, in a sentence',
    max: 20_000,
    example: '12 recordings of TRUCK-7 failed: 8 link refused, 4 no whole MP4.',
  })
  sentence!: string;

  @TextField({
    description: 'Path of the console page that shows it',
    max: 60_000,
    example: '/console/recordings?status=failed&truckId=TRUCK-7',
  })
  page!: string;
}

/** Something that somebody should look at. */
export class AttentionItem extends AttentionFacts {
  @EnumField(KIND)
  kind!: AttentionKind;

  @ObjectField(() => AttentionHauler, { description: 'Its hauler', optional: true })
  hauler?: AttentionHauler;

  @ObjectField(() => AttentionConnection, { description: 'Its connection', optional: true })
  connection?: AttentionConnection;

  @ObjectField(() => AttentionAction, {
    description: 'The call that deals with it, where there is one',
    optional: true,
  })
  action?: AttentionAction;
}

/** How one check went. */
export class CheckResult {
  @InstantField({ description: 'When it was made', example: '2026-11-20T14:03:27.512Z' })
  at!: string;

  @BooleanField({
    description: 'Whether the check could be made. If not, nobody knows whether anything is wrong',
    example: true,
  })
  ok!: boolean;

  @TextField({
    description: 'Why it could not be made',
    max: 1_000,
    optional: true,
    example: 'The exchange log is off (EXCHANGE_LOG).',
  })
  reason?: string;
}

/** One check, whether it found something or not. */
export class CheckedKind extends CheckResult {
  @EnumField(KIND)
  kind!: AttentionKind;
}

/** Everything that needs attention, and what was looked at. */
export class Attention {
  @Documented({
    description: 'By severity, then the nearest deadline, then the latest begin first',
    type: AttentionItem,
    isArray: true,
    maxItems: MAX_ATTENTION,
  })
  data!: AttentionItem[];

  @IntegerField({
    description: 'Number of items; those beyond the list are of the lowest rank',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    example: 3,
  })
  total!: number;

  @Documented({
    description: 'Each kind that this side of the service can check, once',
    type: CheckedKind,
    isArray: true,
    maxItems: ATTENTION_KINDS.length,
  })
  checked!: CheckedKind[];
}
