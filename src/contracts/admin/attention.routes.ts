import { Flag, Integer, Json, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, min, optional } from '../common/fields/options.js';
import { CONNECTION, TRUCK } from './fields.js';
import { Overview, OverviewDays, OverviewDaysQuery } from './overview.dto.js';
import { type AdminRoutes, FOR_VIEWERS, FOR_VIEWERS_OF_ALL, route } from './route-helpers.js';

/** Each is one check over everything that the service stores. */
const ATTENTION_KINDS = [
  'outbound-off',
  'database-trouble',
  'replication',
  'clock',
  'missing-partitions',
  'storage-trouble',
  'kept-versions',
  'late-work',
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

export class AttentionHauler {
  @Uuid('Id of the hauler') id!: string;
  @Text('Its name', example('Lone Star Hauling')) name!: string;
}

class AttentionConnection {
  @Uuid('Id of the connection') id!: string;
  @OneOf('Its interface', ['site', 'vision'], example('vision')) interface!: 'site' | 'vision';
}

/** A call of the admin API that deals with an item. */
export class AttentionAction {
  @Text('What it does', example('Fetch its recordings again')) title!: string;
  @OneOf('Method', ['POST']) method!: 'POST';
  @Text('Path under `/admin/v1`', example('/recordings/retry')) path!: string;
  @Json(
    'Its body',
    { type: 'object', additionalProperties: { type: 'string' } },
    optional,
    example({ connectionId: CONNECTION, truckId: TRUCK }),
  )
  body?: Record<string, string>;
}

/** What an item says to everybody who sees it. */
export class AttentionFacts {
  @OneOf('`now`: something is lost or stands still; `soon`: it will be; `watch`: it is over, or far off', SEVERITIES)
  severity!: Severity;
  @Integer('How many', min(1), example(12)) count!: number;
  @Text('The truck, the key, the rule or the operation that it is about', example('TRUCK-7')) subject!: string;
  @Time('Since when') since!: string;
  @Time('When the next of it is lost or ends', optional) deadline?: string;
  @Text('What is wrong, in a sentence', example('12 recordings of TRUCK-7 failed: 8 link refused, 4 no whole MP4.'))
  sentence!: string;
  @Text('What the check looks at, in a few words', example('Failed recordings')) title!: string;
  @Text(
    'The same for findings with one cause, such as a refused key and the calls and runs that fail for it: people see them as one problem',
    example(`footage ${CONNECTION}`),
  )
  problem!: string;
  @Text('Path of the console page that shows it', example('/console/recordings?status=failed&truckId=TRUCK-7'))
  page!: string;
}

/** Something that somebody should look at. */
export class AttentionItem extends AttentionFacts {
  @OneOf('The check', ATTENTION_KINDS, example('failed-downloads')) kind!: AttentionKind;
  @Nested('Its hauler', AttentionHauler, optional) hauler?: AttentionHauler;
  @Nested('Its connection', AttentionConnection, optional) connection?: AttentionConnection;
  @Nested('The call that deals with it, where there is one', AttentionAction, optional) action?: AttentionAction;
  @Text('What a person does about it, at its page or by the call', optional, example('Ask again')) act?: string;
}

/** How one check went. */
export class CheckResult {
  @Text('What it looks at, in a few words', example('Failed recordings')) title!: string;
  @Time('When it was made') at!: string;
  @Flag('Whether the check could be made. If not, nobody knows whether anything is wrong') ok!: boolean;
  @Text('Why it could not be made', optional, example('The exchange log is off (EXCHANGE_LOG).')) reason?: string;
}

/** One check, whether it found something or not. */
export class CheckedKind extends CheckResult {
  @OneOf('The check', ATTENTION_KINDS, example('failed-downloads')) kind!: AttentionKind;
  @Flag('With `ok: false`: a setting of the service or of the database hides what the check looks at', optional)
  bySetting?: boolean;
}

/** Everything that needs attention, and what was looked at. */
export class Attention {
  @NestedList('By severity, then the nearest deadline, then the latest begin first', AttentionItem)
  data!: AttentionItem[];
  @Integer('Number of items; those beyond the list are of the lowest rank', example(3)) total!: number;
  @Integer('Number of problems: findings with one cause are one', example(2)) problems!: number;
  @NestedList('Each kind that this side of the service can check, once', CheckedKind) checked!: CheckedKind[];
}

/** What needs attention, and the day in numbers. */
export const ATTENTION_ROUTES = {
  getOverview: route(FOR_VIEWERS_OF_ALL, 'GET', '/overview', {
    summary: 'Read the last 24 hours in numbers',
    description:
      'By hour (UTC), the current one last: pushes of tickets by result, stored recordings, exchanges by status; and the refused pushes by reason.',
    response: Overview,
  }),
  getOverviewDays: route(FOR_VIEWERS, 'GET', '/overview/days', {
    summary: 'Read what came in on the last 14 days, and who is quiet',
    description:
      'By day of a time zone, of one hauler or of all that the caller may see: tickets and tons, accounts, refused calls, stored footage and its coverage; and the scale houses and cameras that send less than on their usual day.',
    query: OverviewDaysQuery,
    response: OverviewDays,
    fails: { invalid: 'An unknown time zone' },
  }),
  getAttention: route(FOR_VIEWERS, 'GET', '/attention', {
    summary: 'List what needs attention',
    description:
      'One ranked list over everything that the service stores: held and failing synchronisations, calls that partners refuse, downloads at risk, lost footage, refused pushes, keys that expire, work that is late, trouble of the database, its standbys and the storage. `checked` names every check that was made, also those that found nothing, and those that could not be made.',
    response: Attention,
    returns: 'What needs attention',
  }),
} as const satisfies AdminRoutes;
