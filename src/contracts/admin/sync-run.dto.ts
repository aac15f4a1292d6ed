import { Documented } from '../common/fields/documented.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { ArrayField, ObjectField } from '../common/fields/nested-fields.js';
import { ListQuery } from './list.dto.js';
import { SYNC_KINDS, type SyncKind } from './sync-kinds.js';
import { MAX_REFUSALS, RefusedRecords } from './sync-refusal.dto.js';

const ID = '0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24';
const CONNECTION_ID = '0197a1cc-3b11-7d42-8c5e-6f8a0b2c4d68';

const SYNC_RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'held', 'rejected', 'no_data'] as const;
export type SyncRunStatus = (typeof SYNC_RUN_STATUSES)[number];

/** The filters that the partner of a connection has too. */
export class SyncRunFilters extends ListQuery {
  @EnumField({
    description: 'Runs with this status only',
    values: SYNC_RUN_STATUSES,
    optional: true,
  })
  status?: SyncRunStatus;

  @BooleanField({
    description: 'Only runs after which no other run of the connection has finished',
    optional: true,
    inQuery: true,
  })
  latest?: boolean;

  @BooleanField({
    description: 'Only runs that quarantined records, or only the others',
    optional: true,
    inQuery: true,
  })
  quarantined?: boolean;
}

export class SyncRunQuery extends SyncRunFilters {
  @UuidField({ description: 'Runs of this connection only', optional: true })
  connectionId?: string;
}

const records = (description: string) =>
  IntegerField({ description, min: 0, max: Number.MAX_SAFE_INTEGER, example: 12 });

/** The counts of a run for one kind of record. */
export class SyncCounts {
  @records('Elements in the array of the partner')
  received!: number;

  @records('Not stored before')
  created!: number;

  @records('Stored before, with different content')
  updated!: number;

  @records('Same content; a newer `updatedAt` alone is stored and counts here')
  unchanged!: number;

  @records('Deactivated by the partner, or absent from its response')
  deactivated!: number;

  @records('Active again')
  restored!: number;

  @records('Older than what is stored: not applied')
  stale!: number;

  @records('Stored with a flag, because site and kiosk contradict each other')
  flagged!: number;

  @records('Absent from the response, and active until an admin confirms their removal')
  held!: number;

  @records('Skipped as invalid')
  quarantined!: number;
}

export class SyncRunCounts {
  @ObjectField(() => SyncCounts, { description: 'Sites' })
  sites!: SyncCounts;

  @ObjectField(() => SyncCounts, { description: 'Kiosks' })
  kiosks!: SyncCounts;

  @ObjectField(() => SyncCounts, { description: 'Materials' })
  materials!: SyncCounts;
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
  @UuidField({ description: 'Id of the run', example: ID })
  id!: string;

  @UuidField({ description: 'Connection that was synchronised', example: CONNECTION_ID })
  connectionId!: string;

  @EnumField({
    description:
      '`held`: removals wait for an admin, the other changes are applied. `rejected`: an admin kept the records. `no_data`: the partner has no data of this hauler; nothing changed.',
    values: SYNC_RUN_STATUSES,
    example: 'succeeded',
  })
  status!: SyncRunStatus;

  @TextField({
    description:
      'What an admin should look at although the run did not fail: records that are not stored, and lists that the partner no longer sends',
    max: 1_000,
    optional: true,
    example: '135 of 700 records are in quarantine, and not stored as sent: materials 135.',
  })
  attention?: string;

  @InstantField({ description: 'When it began', nullable: true, example: '2026-11-20T14:03:27.512Z' })
  startedAt!: string | null;

  @InstantField({ description: 'When it ended', nullable: true, example: '2026-11-20T14:03:28.940Z' })
  finishedAt!: string | null;

  @TextField({
    description: 'Why it failed, or why `no_data` is unexpected, in a sentence',
    max: 2000,
    optional: true,
    example: 'sites.example.com closed the connection before the end of its response.',
  })
  error?: string;

  @ObjectField(() => SyncRunCounts, { description: 'The counts of each kind of record' })
  counts!: SyncRunCounts;

  @Documented({
    description: 'The rule that held removals, for each kind that is held',
    type: 'array',
    items: GUARD_SCHEMA,
    maxItems: SYNC_KINDS.length,
    required: false,
    example: [{ kind: 'sites', removed: 6, of: 10, share: 0.6 }],
  })
  guard?: readonly RemovalGuard[];

  @TextField({ description: 'Why an admin rejected it', max: 1_000, optional: true, example: 'Export was empty' })
  note?: string;

  @ArrayField(() => RefusedRecords, {
    description:
      'All records that it skipped or flagged, by rule: `GET /sync-runs/{id}/quarantine` lists those of one with the same `severity`, `kind`, `field` and `rule`',
    max: MAX_REFUSALS,
    optional: true,
  })
  refusals?: RefusedRecords[];
}

export class RejectSyncRunRequest {
  @NameField({ description: 'Why', max: 1_000, optional: true, example: 'Export was empty' })
  note?: string;
}

/** The requested run, or the run that was already active. */
export class RequestedSyncRun {
  @UuidField({ description: 'Id of the run', example: ID })
  runId!: string;
}
