import {
  Flag,
  Integer,
  Json,
  Name,
  Nested,
  NestedList,
  OneOf,
  Text,
  TextList,
  Time,
  Uuid,
} from '../common/fields/decorators.js';
import { between, example, inQuery, max, min, nullable, optional, type Options } from '../common/fields/options.js';
import { ListQuery } from './list.dto.js';
import {
  SYNC_CHANGES,
  SYNC_KINDS,
  SYNC_RUN_STATUSES,
  type SyncChangeName,
  type SyncKind,
  type SyncRunStatus,
} from './sync.values.js';
import { DryRun, HaulerId } from './fields.js';
import {
  type AdminRoutes,
  change,
  FOR_OPERATORS,
  FOR_VIEWERS,
  history,
  list,
  listOfOne,
  one,
} from './route-helpers.js';

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

/** The filters that the partner of a connection has too. */
export class SyncRunFilters extends ListQuery {
  @OneOf('Runs with this status only', SYNC_RUN_STATUSES, optional) status?: SyncRunStatus;
  @Flag('Only runs after which no other run of the connection has finished', inQuery, optional) latest?: boolean;
  @Flag('Only runs that quarantined records, or only the others', inQuery, optional) quarantined?: boolean;
}

export class SyncRunQuery extends SyncRunFilters {
  @Uuid('Runs of this connection only', optional) connectionId?: string;
}

/** The counts of a run for one kind of record. */
export class SyncCounts {
  @Integer('Elements in the array of the partner', example(12)) received!: number;
  @Integer('Not stored before', example(12)) created!: number;
  @Integer('Stored before, with different content', example(12)) updated!: number;
  @Integer('Same content; a newer `updatedAt` alone is stored and counts here', example(12)) unchanged!: number;
  @Integer('Deactivated by the partner, or absent from its response', example(12)) deactivated!: number;
  @Integer('Active again', example(12)) restored!: number;
  @Integer('Older than what is stored: not applied', example(12)) stale!: number;
  @Integer('Stored with a flag, because site and kiosk contradict each other', example(12)) flagged!: number;
  @Integer('Absent from the response, and active until an admin confirms their removal', example(12)) held!: number;
  @Integer('Skipped as invalid', example(12)) quarantined!: number;
}

export class SyncRunCounts {
  @Nested('Sites', SyncCounts) sites!: SyncCounts;
  @Nested('Kiosks', SyncCounts) kiosks!: SyncCounts;
  @Nested('Materials', SyncCounts) materials!: SyncCounts;
}

/** The rule that held the removals of one kind (decision 35). */
export interface RemovalGuard {
  readonly kind: SyncKind;
  /** Records that the response does not contain. */
  readonly removed: number;
  /** Active records before the run. */
  readonly of: number;
  /** `removed` divided by `of`. */
  readonly share: number;
}

const NUMBER_OF_RECORDS = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const GUARD_SCHEMA = {
  type: 'object',
  required: ['kind', 'removed', 'of', 'share'],
  properties: {
    kind: { type: 'string', enum: [...SYNC_KINDS] },
    removed: NUMBER_OF_RECORDS,
    of: NUMBER_OF_RECORDS,
    share: { type: 'number', minimum: 0, maximum: 1 },
  },
};

/** One synchronisation of one connection. */
export class SyncRun {
  @Uuid('Id of the run') id!: string;
  @Uuid('Connection that was synchronised') connectionId!: string;
  @OneOf(
    '`held`: removals wait for an admin, the other changes are applied. `rejected`: an admin kept the records. `no_data`: the partner has no data of this hauler; nothing changed.',
    SYNC_RUN_STATUSES,
  )
  status!: SyncRunStatus;
  @Text(
    'What an admin should look at although the run did not fail: records that are not stored, and lists that the partner no longer sends',
    optional,
    example('135 of 700 records are in quarantine, and not stored as sent: materials 135.'),
  )
  attention?: string;
  @Time('When it began', nullable) startedAt!: string | null;
  @Time('When it ended', nullable) finishedAt!: string | null;
  @Text(
    'Why it failed, or why `no_data` is unexpected, in a sentence',
    optional,
    example('sites.example.com closed the connection before the end of its response.'),
  )
  error?: string;
  @Nested('The counts of each kind of record', SyncRunCounts) counts!: SyncRunCounts;
  @Json(
    'The rule that held removals, for each kind that is held',
    { type: 'array', items: GUARD_SCHEMA, maxItems: SYNC_KINDS.length },
    optional,
    example([{ kind: 'sites', removed: 6, of: 10, share: 0.6 }]),
  )
  guard?: readonly RemovalGuard[];
  @Text('Why an admin rejected it', optional, example('Export was empty')) note?: string;
  @NestedList(
    'All records that it skipped or flagged, by rule: `GET /sync-runs/{id}/quarantine` lists those of one with the same `severity`, `kind`, `field` and `rule`',
    RefusedRecords,
    optional,
  )
  refusals?: RefusedRecords[];
}

export class RejectSyncRunRequest {
  @Name('Why', max(1_000), optional, example('Export was empty')) note?: string;
}

export class ConfirmSyncRunRequest {
  @DryRun() dryRun?: boolean;
}

/** The requested run, or the run that was already active. */
export class RequestedSyncRun {
  @Uuid('Id of the run') runId!: string;
}

export class SyncChangeQuery extends ListQuery {
  @OneOf('Records of this kind only', SYNC_KINDS, optional) kind?: SyncKind;
  @OneOf('Changes of this type only', SYNC_CHANGES, optional) change?: SyncChangeName;
}

const ChangedRecord = (description: string) =>
  Json(description, { type: 'object', additionalProperties: true }, nullable, example({ name: 'North' }));

/** A record that a run changed, or would change once it is confirmed. */
export class SyncChange {
  @OneOf('Kind of record', SYNC_KINDS) kind!: SyncKind;
  @OneOf('`held`: the record is active, and a confirmation removes it.', SYNC_CHANGES, example('updated'))
  change!: SyncChangeName;
  @Uuid("The partner's id of the record") externalId!: string;
  @Text('Name of the record; of a material its type', example('North')) name!: string;
  @ChangedRecord('The record before; null if it was created') before!: Readonly<Record<string, unknown>> | null;
  @ChangedRecord('The record after the change') after!: Readonly<Record<string, unknown>> | null;
  @TextList('Fields that differ', example(['name'])) changes!: string[];
}

/** More changed records of a site are counted, not listed. */
export const MAX_TREE_RECORDS = 100;

/** The disposal tickets of the last 30 days that name a site or material. */
export class TicketUse {
  @Integer('How many', example(17)) count!: number;
  @Flag('Whether there may be more: the newest 1,000 tickets of a site are read', example(false)) more!: boolean;
}

/** A kiosk or material that a run changed. */
export class SyncTreeRecord {
  @OneOf('Kind of record', SYNC_KINDS, example('materials')) kind!: SyncKind;
  @Uuid("The partner's id of the record") externalId!: string;
  @Text('Name of the record; of a material its type', example('Concrete')) name!: string;
  @OneOf('`held`: a confirmation removes it', SYNC_CHANGES, example('held')) change!: SyncChangeName;
  @TextList('Fields that differ', example(['name'])) changes!: string[];
  @Nested('Of a material: tickets of the site that name it', TicketUse, optional) tickets?: TicketUse;
}

/** A site of which a run changed something. */
export class SyncTreeSite {
  @Uuid("The partner's id of the site; null for records of no known site", nullable) externalId!: string | null;
  @Text('Its name; null if no site with this id is stored', nullable, example('North')) name!: string | null;
  @OneOf('What the run did to the site; null if only to its kiosks and materials', SYNC_CHANGES, nullable)
  change!: SyncChangeName | null;
  @TextList('Fields that differ', example(['name'])) changes!: string[];
  @Nested('Tickets of the site', TicketUse) tickets!: TicketUse;
  @Time('Tickets since this time are counted') ticketsFrom!: string;
  @HaulerId() haulerId!: string;
  @Integer('Changed kiosks and materials, also those that are not listed', example(2)) total!: number;
  @NestedList('Its changed kiosks and materials, those that would be removed first', SyncTreeRecord)
  records!: SyncTreeRecord[];
}

const NOT_HELD = {
  notFound: 'No run has this id',
  conflict: 'The run holds no removals, or a newer run of the connection has begun',
};

/** Synchronisation runs of sites. */
export const SYNC_RUN_ROUTES = {
  listSyncRuns: list(FOR_VIEWERS, '/sync-runs', SyncRun, SyncRunQuery, {
    summary: 'List synchronisation runs',
    description: 'Newest first.',
  }),
  getSyncRun: one(FOR_VIEWERS, '/sync-runs/{id}', 'run', SyncRun, {
    summary: 'Read a synchronisation run',
    description: 'With its counts for each kind of record.',
  }),
  listQuarantinedRecords: listOfOne(
    FOR_VIEWERS,
    '/sync-runs/{id}/quarantine',
    'run',
    QuarantinedRecord,
    QuarantineQuery,
    {
      summary: 'List the quarantined and flagged records of a run',
      description:
        'Records that the run skipped, and records that it stored with a flag. The service keeps at most 10,000 records of a run, for the newest 20 runs of a connection.',
      csv: true,
    },
  ),
  listSyncRunChanges: listOfOne(FOR_VIEWERS, '/sync-runs/{id}/changes', 'run', SyncChange, SyncChangeQuery, {
    summary: 'List what a run changed',
    description:
      'Each record before and after. A held run also lists the removals that a confirmation applies. The service keeps at most 10,000 changes of each kind and type of a run, for the newest 100 runs of a connection that changed something.',
    csv: true,
  }),
  listSyncRunTree: listOfOne(FOR_VIEWERS, '/sync-runs/{id}/tree', 'run', SyncTreeSite, ListQuery, {
    summary: 'List what a run changed by site',
    description:
      'The sites with their changed kiosks and materials, first those of which a confirmation would remove most, and how many disposal tickets of the last 30 days use them. It is made from the stored changes of the run.',
  }),
  rejectSyncRun: change(FOR_OPERATORS, 'POST', '/sync-runs/{id}/reject', 'run', {
    summary: 'Reject held removals',
    description:
      'Discards the held removals: the records stay active, and the run becomes `rejected`. The next response that would remove them is held again.',
    body: RejectSyncRunRequest,
    response: SyncRun,
    isBodyOptional: true,
    fails: NOT_HELD,
  }),
  confirmSyncRun: change(FOR_OPERATORS, 'POST', '/sync-runs/{id}/confirm', 'run', {
    summary: 'Confirm held removals',
    description:
      "Deactivates the records that were absent from the partner's response; the run becomes `succeeded`. A dry run answers with the run as it would be.",
    body: ConfirmSyncRunRequest,
    response: SyncRun,
    isBodyOptional: true,
    fails: NOT_HELD,
  }),
  listSyncRunHistory: history(
    '/sync-runs/{id}/history',
    'a synchronisation run',
    'Its calls to the partner, its result, and the decisions of admins.',
  ),
} as const satisfies AdminRoutes;
