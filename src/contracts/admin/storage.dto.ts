import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { DOCUMENTED_MAX } from '../common/fields/field.js';
import { ArrayField } from '../common/fields/nested-fields.js';

const count = { min: 0, max: Number.MAX_SAFE_INTEGER, example: 0 };

/** More findings than this point to one cause, such as a wrong STORAGE_URL. */
export const MAX_STORAGE_FINDINGS = 10_000;

export const MAX_UNREAD = 1_000;

export class StorageCheckQuery {
  @BooleanField({ description: 'Read every file and compare its SHA-256', optional: true, inQuery: true })
  checksums?: boolean;
}

const STORAGE_FINDINGS = ['file-lost', 'file-differs', 'row-lost'] as const;

/** One difference between the video storage and the database. */
export class StorageFinding {
  @EnumField({
    description:
      '`file-lost`: the row has no file. `file-differs`: size or SHA-256 differ. `row-lost`: the file has no row.',
    values: STORAGE_FINDINGS,
    example: 'file-lost',
  })
  finding!: (typeof STORAGE_FINDINGS)[number];

  @TextField({ description: 'Table of the row', max: 63, example: 'recordings' })
  table!: string;

  @TextField({ description: 'Id of the row', max: 255, example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  id!: string;

  @TextField({ description: 'Name of the file in the storage', max: 1024 })
  file!: string;

  @TextField({ description: 'The difference, in a sentence', max: 2000 })
  message!: string;
}

/** A file or folder of the storage that could not be read. It was not compared, and a repair leaves it as it is. */
export class UnreadPlace {
  @TextField({ description: 'Its name in the storage', max: 1024, example: 'recordings/2026-11-26/ab' })
  place!: string;

  @TextField({ description: 'Why it could not be read', max: 2000, example: 'permission denied (EACCES)' })
  reason!: string;
}

/** A day of a truck whose sums, from which the coverage of a fleet is shown, are not those of its recordings. */
export class SumsFinding {
  @UuidField({ description: 'Hauler of the truck', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  haulerId!: string;

  @UuidField({ description: 'Connection of the truck', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  connectionId!: string;

  @TextField({ description: 'Truck, as the partner names it', max: DOCUMENTED_MAX, example: 'TRUCK-7' })
  truckId!: string;

  @TextField({ description: 'Day (UTC)', max: 10, example: '2026-01-31' })
  day!: string;

  @TextField({ description: 'The difference, in a sentence', max: DOCUMENTED_MAX })
  message!: string;
}

export class StorageCheck {
  @IntegerField({ description: 'Rows and files that were compared', ...count })
  examined!: number;

  @IntegerField({ description: 'Trucks whose sums by day were compared with their recordings', ...count })
  trucks!: number;

  @ArrayField(() => StorageFinding, {
    description: `The differences; the check stops at ${MAX_STORAGE_FINDINGS}`,
    max: MAX_STORAGE_FINDINGS,
    example: [],
  })
  data!: StorageFinding[];

  @ArrayField(() => UnreadPlace, {
    description: `What could not be read, and was not compared; at most ${MAX_UNREAD}`,
    max: MAX_UNREAD,
    example: [],
  })
  unread!: UnreadPlace[];

  @ArrayField(() => SumsFinding, {
    description: `The days of trucks whose sums differ from the recordings; the check stops at ${MAX_STORAGE_FINDINGS}`,
    max: MAX_STORAGE_FINDINGS,
    example: [],
  })
  sums!: SumsFinding[];

  @TextField({
    description: 'What the database lacks, and how to add it; absent where it lacks nothing',
    max: 2_000,
    optional: true,
    example: 'PostgreSQL has no index for the search of accounts.',
  })
  advice?: string;
}

export class StorageRepairRequest {
  @BooleanField({ description: 'Only report what would be done', optional: true, example: true })
  dryRun?: boolean;

  @BooleanField({ description: 'Remove files without a row', optional: true, example: false })
  removeOrphans?: boolean;

  @BooleanField({ description: 'Also read every file and compare its SHA-256', optional: true, example: false })
  checksums?: boolean;
}

const STORAGE_REMEDIES = ['fetchedAgain', 'removed', 'none'] as const;
export type StorageRemedy = (typeof STORAGE_REMEDIES)[number];

/** A difference, and what was done about it. */
export class RepairedFinding extends StorageFinding {
  @EnumField({
    description:
      '`fetchedAgain`: the recording waits for its file, which is fetched if the partner still lists it. `removed`: the file. `none`: nothing',
    values: STORAGE_REMEDIES,
    example: 'fetchedAgain',
  })
  remedy!: StorageRemedy;
}

export class StorageRepair {
  @BooleanField({ description: 'Nothing was changed', example: false })
  dryRun!: boolean;

  @IntegerField({ description: 'Rows and files that were compared', ...count })
  examined!: number;

  @IntegerField({ description: 'Recordings that wait for their file again', ...count })
  fetchedAgain!: number;

  @IntegerField({ description: 'Removed files without a row', ...count })
  removed!: number;

  @IntegerField({ description: 'Differences that were left', ...count })
  none!: number;

  @IntegerField({ description: 'Days of trucks whose sums were corrected', ...count })
  sumsCorrected!: number;

  @ArrayField(() => RepairedFinding, {
    description: `The differences; a repair stops at ${MAX_STORAGE_FINDINGS}, and the next one goes on`,
    max: MAX_STORAGE_FINDINGS,
    example: [],
  })
  data!: RepairedFinding[];

  @ArrayField(() => UnreadPlace, {
    description: `What could not be read, and was left as it is; at most ${MAX_UNREAD}`,
    max: MAX_UNREAD,
    example: [],
  })
  unread!: UnreadPlace[];

  @ArrayField(() => SumsFinding, {
    description: `The days of trucks whose sums differed; a repair stops at ${MAX_STORAGE_FINDINGS}, and the next one goes on`,
    max: MAX_STORAGE_FINDINGS,
    example: [],
  })
  sums!: SumsFinding[];
}

export class RetentionRequest {
  @BooleanField({ description: 'Only count what would be deleted', optional: true, example: true })
  dryRun?: boolean;
}

export class RetentionResult {
  @IntegerField({ description: 'Recordings deleted, or that would be deleted', ...count })
  recordings!: number;

  @IntegerField({ description: 'Their size in bytes', ...count })
  bytes!: number;

  @InstantField({
    description: 'Recordings stored before this time; absent while retention is off',
    optional: true,
    example: '2026-01-31T08:30:00Z',
  })
  before?: string;
}
