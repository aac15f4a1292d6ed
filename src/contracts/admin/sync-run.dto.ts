import { Flag, Integer, Json, Name, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, max, nullable, optional } from '../common/fields/options.js';
import { DryRun } from './fields.js';
import { ListQuery } from './list.dto.js';
import { SYNC_KINDS, SYNC_RUN_STATUSES, type SyncKind, type SyncRunStatus } from './sync.values.js';
import { RefusedRecords } from './sync-refusal.dto.js';

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
