import { Documented } from '../common/fields/documented.js';
import { DOCUMENTED_MAX } from '../common/fields/field.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { ObjectField, TextListField } from '../common/fields/nested-fields.js';
import { ListQuery } from './list.dto.js';

const ID = '0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24';
const CONNECTION_ID = '0197a1cc-3b11-7d42-8c5e-6f8a0b2c4d68';

const SYNC_RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'held', 'rejected', 'no_data'] as const;
export type SyncRunStatus = (typeof SYNC_RUN_STATUSES)[number];

const SYNC_KINDS = ['sites', 'kiosks', 'materials'] as const;
const SYNC_CHANGES = ['created', 'updated', 'deactivated', 'restored', 'held'] as const;
const SYNC_SEVERITIES = ['quarantined', 'flagged'] as const;

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
  readonly kind: (typeof SYNC_KINDS)[number];
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
    description: 'What an admin should look at although the run did not fail: records that are not stored',
    max: 300,
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
    description: 'The rule that held removals; a list if several kinds are held',
    oneOf: [GUARD_SCHEMA, { type: 'array', items: GUARD_SCHEMA, maxItems: SYNC_KINDS.length }],
    required: false,
    example: { kind: 'sites', removed: 6, of: 10, share: 0.6 },
  })
  guard?: RemovalGuard | readonly RemovalGuard[];

  @TextField({ description: 'Why an admin rejected it', max: 1_000, optional: true, example: 'Export was empty' })
  note?: string;
}

export class RejectSyncRunRequest {
  @NameField({ description: 'Why', max: 1_000, optional: true, example: 'Export was empty' })
  note?: string;
}

export class SyncChangeQuery extends ListQuery {
  @EnumField({ description: 'Records of this kind only', values: SYNC_KINDS, optional: true })
  kind?: (typeof SYNC_KINDS)[number];

  @EnumField({ description: 'Changes of this type only', values: SYNC_CHANGES, optional: true })
  change?: (typeof SYNC_CHANGES)[number];
}

const changedRecord = (description: string) =>
  Documented({ description, type: 'object', additionalProperties: true, nullable: true, example: { name: 'North' } });

/** A record that a run changed, or would change once it is confirmed. */
export class SyncChange {
  @EnumField({ description: 'Kind of record', values: SYNC_KINDS, example: 'sites' })
  kind!: (typeof SYNC_KINDS)[number];

  @EnumField({
    description: '`held`: the record is active, and a confirmation removes it.',
    values: SYNC_CHANGES,
    example: 'updated',
  })
  change!: (typeof SYNC_CHANGES)[number];

  @UuidField({ description: "The partner's id of the record", example: ID })
  externalId!: string;

  @TextField({ description: 'Name of the record; of a material its type', max: DOCUMENTED_MAX, example: 'North' })
  name!: string;

  @changedRecord('The record before; null if it was created')
  before!: Readonly<Record<string, unknown>> | null;

  @changedRecord('The record after the change')
  after!: Readonly<Record<string, unknown>> | null;

  @TextListField({ description: 'Fields that differ', maxLength: 64, max: 20, example: ['name'] })
  changes!: string[];
}

/** The requested run, or the run that was already active. */
export class RequestedSyncRun {
  @UuidField({ description: 'Id of the run', example: ID })
  runId!: string;
}

/** A record that a run skipped, or stored with a flag. */
export class QuarantinedRecord {
  @EnumField({
    description: '`quarantined`: skipped, and the stored record did not change. `flagged`: stored.',
    values: SYNC_SEVERITIES,
    example: 'quarantined',
  })
  severity!: (typeof SYNC_SEVERITIES)[number];

  @EnumField({ description: 'Kind of record', values: SYNC_KINDS, example: 'materials' })
  kind!: (typeof SYNC_KINDS)[number];

  @TextField({
    description: "Path in the `data` of the partner's response",
    max: 500,
    example: 'materials[12].measureUnit',
  })
  path!: string;

  @TextField({
    description: 'The violation, in a sentence',
    max: 4000,
    example: 'materials[12].measureUnit must be one of Item, Ton, Pound, Kilogram, Cubic Yard, Cubic Meter',
  })
  reason!: string;

  @TextField({
    description: 'The rule of the conformance kit that the record breaks; absent if no rule checks it',
    max: 20,
    optional: true,
    example: 'SITE-034',
  })
  ruleId?: string;

  @Documented({
    description: 'The record as received, any JSON value; only its beginning, as text, if it is very long',
    anyOf: [
      { type: 'object', additionalProperties: true, nullable: true },
      { type: 'array', items: {} },
      { type: 'string', maxLength: DOCUMENTED_MAX },
      { type: 'number' },
      { type: 'boolean' },
    ],
    example: { id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', measureUnit: 'Gallon' },
  })
  raw!: unknown;
}
