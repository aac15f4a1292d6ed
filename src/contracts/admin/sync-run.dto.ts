import { ApiProperty } from '@nestjs/swagger';
import { DOCUMENTED_MAX } from '../common/fields/field.js';
import { InstantField } from '../common/fields/instant-field.js';
import { IntegerField } from '../common/fields/number-fields.js';
import { ObjectField } from '../common/fields/object-fields.js';
import { EnumField, TextField, UuidField } from '../common/fields/text-fields.js';
import { PageQuery } from '../common/pagination.dto.js';

const ID = '0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24';
const CONNECTION_ID = '0197a1cc-3b11-7d42-8c5e-6f8a0b2c4d68';

const SYNC_RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'held', 'no_data'] as const;
export type SyncRunStatus = (typeof SYNC_RUN_STATUSES)[number];

const SYNC_KINDS = ['sites', 'kiosks', 'materials'] as const;
const SYNC_SEVERITIES = ['quarantined', 'flagged'] as const;

export class SyncRunQuery extends PageQuery {
  @UuidField({ description: 'Runs of this connection only', optional: true })
  connectionId?: string;

  @EnumField({
    description: 'Runs with this status only',
    values: SYNC_RUN_STATUSES,
    optional: true,
  })
  status?: SyncRunStatus;
}

const records = (description: string) =>
  IntegerField({ description, min: 0, max: Number.MAX_SAFE_INTEGER, example: 12 });

/** What a run did with the records of one kind. */
export class SyncCounts {
  @records('Elements of the array that the partner sent')
  received!: number;

  @records('Unknown before')
  created!: number;

  @records('Known, with other content')
  updated!: number;

  @records('As they were; a newer `updatedAt` alone is stored and counted here')
  unchanged!: number;

  @records('Inactive now: by the word of the partner, or absent from its answer')
  deactivated!: number;

  @records('Active again')
  restored!: number;

  @records('Older than what is stored: not applied')
  stale!: number;

  @records('Kept, though their site and kiosk contradict each other')
  flagged!: number;

  @records('Absent from the answer, and active until an admin confirms their removal')
  held!: number;

  @records('Not taken')
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

/** One synchronisation of one connection. */
export class SyncRun {
  @UuidField({ description: 'Id of the run', example: ID })
  id!: string;

  @UuidField({ description: 'Connection that was synchronised', example: CONNECTION_ID })
  connectionId!: string;

  @EnumField({
    description:
      '`held`: removals wait for an admin, the rest is applied. `no_data`: the partner has none of this hauler; nothing was changed.',
    values: SYNC_RUN_STATUSES,
    example: 'succeeded',
  })
  status!: SyncRunStatus;

  @InstantField({ description: 'When it began', nullable: true, example: '2026-11-20T14:03:27.512Z' })
  startedAt!: string | null;

  @InstantField({ description: 'When it ended', nullable: true, example: '2026-11-20T14:03:28.940Z' })
  finishedAt!: string | null;

  @TextField({
    description: 'Why it failed, or why its `no_data` is in doubt, in a sentence',
    max: 2000,
    optional: true,
    example: 'The connection to sites.example.com broke before its whole answer had come.',
  })
  error?: string;

  @ObjectField(() => SyncRunCounts, { description: 'What it did' })
  counts!: SyncRunCounts;
}

/** The run that was asked for, or the one that was active already. */
export class RequestedSyncRun {
  @UuidField({ description: 'Id of the run', example: ID })
  runId!: string;
}

/** A record that a run did not take, or took with doubt. */
export class QuarantinedRecord {
  @EnumField({
    description: '`quarantined`: not taken, and what is stored under its id is as it was. `flagged`: taken.',
    values: SYNC_SEVERITIES,
    example: 'quarantined',
  })
  severity!: (typeof SYNC_SEVERITIES)[number];

  @EnumField({ description: 'What it is', values: SYNC_KINDS, example: 'materials' })
  kind!: (typeof SYNC_KINDS)[number];

  @TextField({
    description: "Place in the `data` of the partner's answer",
    max: 500,
    example: 'materials[12].measureUnit',
  })
  path!: string;

  @TextField({
    description: 'What is wrong, in a sentence',
    max: 4000,
    example: 'materials[12].measureUnit must be one of Item, Ton, Pound, Kilogram, Cubic Yard, Cubic Meter',
  })
  reason!: string;

  @ApiProperty({
    description: 'The record as it came, whatever JSON value that is; of a very long one the beginning, as text',
    anyOf: [
      { type: 'object', additionalProperties: true, nullable: true },
      { type: 'array', items: {}, maxItems: DOCUMENTED_MAX },
      { type: 'string', maxLength: DOCUMENTED_MAX },
      { type: 'number' },
      { type: 'boolean' },
    ],
    example: { id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', measureUnit: 'Gallon' },
  })
  raw!: unknown;
}
