import { Flag, Integer, NestedList, OneOf, Text, Time } from '../common/fields/decorators.js';
import { example, inQuery, optional } from '../common/fields/options.js';
import { DryRun } from './fields.js';
import { type AdminRoutes, FOR_ADMINS_OF_ALL, FOR_VIEWERS_OF_ALL, route } from './route-helpers.js';

/** More findings than this point to one cause, such as a wrong STORAGE_URL. */
export const MAX_STORAGE_FINDINGS = 10_000;

export const MAX_UNREAD = 1_000;

export class StorageCheckQuery {
  @Flag('Read every file and compare its SHA-256', inQuery, optional) checksums?: boolean;
}

const STORAGE_FINDINGS = ['file-lost', 'file-differs', 'row-lost'] as const;

/** One difference between the video storage and the database. */
export class StorageFinding {
  @OneOf(
    '`file-lost`: the row has no file. `file-differs`: size or SHA-256 differ. `row-lost`: the file has no row.',
    STORAGE_FINDINGS,
  )
  finding!: (typeof STORAGE_FINDINGS)[number];
  @Text('Table of the row', example('recordings')) table!: string;
  @Text('Id of the row', example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d')) id!: string;
  @Text('Name of the file in the storage') file!: string;
  @Text('The difference, in a sentence') message!: string;
}

/** A file or folder of the storage that could not be read. It was not compared, and a repair leaves it as it is. */
export class UnreadPlace {
  @Text('Its name in the storage', example('recordings/2026-11-26/ab')) place!: string;
  @Text('Why it could not be read', example('permission denied (EACCES)')) reason!: string;
}

export class StorageCheck {
  @Integer('Rows and files that were compared', example(0)) examined!: number;
  @NestedList(`The differences; the check stops at ${MAX_STORAGE_FINDINGS}`, StorageFinding, example([]))
  data!: StorageFinding[];
  @NestedList(`What could not be read, and was not compared; at most ${MAX_UNREAD}`, UnreadPlace, example([]))
  unread!: UnreadPlace[];
  @Text('What the storage lacks, and how to add it; absent where it lacks nothing', optional) advice?: string;
}

export class StorageRepairRequest {
  @DryRun() dryRun?: boolean;
  @Flag('Remove files without a row', optional, example(false)) removeOrphans?: boolean;
  @Flag('Also read every file and compare its SHA-256', optional, example(false)) checksums?: boolean;
}

const STORAGE_REMEDIES = ['fetchedAgain', 'removed', 'none'] as const;
export type StorageRemedy = (typeof STORAGE_REMEDIES)[number];

/** A difference, and what was done about it. */
class RepairedFinding extends StorageFinding {
  @OneOf(
    '`fetchedAgain`: the recording waits for its file, which is fetched if the partner still lists it. `removed`: the file. `none`: nothing',
    STORAGE_REMEDIES,
  )
  remedy!: StorageRemedy;
}

export class StorageRepair {
  @Flag('Nothing was changed', example(false)) dryRun!: boolean;
  @Integer('Rows and files that were compared', example(0)) examined!: number;
  @Integer('Recordings that wait for their file again', example(0)) fetchedAgain!: number;
  @Integer('Removed files without a row', example(0)) removed!: number;
  @Integer('Differences that were left', example(0)) none!: number;
  @NestedList(`The differences; a repair stops at ${MAX_STORAGE_FINDINGS}, and the next one goes on`, RepairedFinding)
  data!: RepairedFinding[];
  @NestedList(`What could not be read, and was left as it is; at most ${MAX_UNREAD}`, UnreadPlace, example([]))
  unread!: UnreadPlace[];
}

export class RetentionRequest {
  @DryRun() dryRun?: boolean;
}

export class RetentionResult {
  @Integer('Recordings deleted, or that would be deleted', example(0)) recordings!: number;
  @Integer('Their size in bytes', example(0)) bytes!: number;
  @Time('Recordings stored before this time; absent while retention is off', optional) before?: string;
}

/** The video storage: comparison with the database, and repair. */
export const STORAGE_ROUTES = {
  checkStorage: route(FOR_VIEWERS_OF_ALL, 'GET', '/doctor', {
    summary: 'Compare the video storage with the database',
    description:
      'Lists files without a row, and rows whose file is missing or differs. Changes nothing. With `checksums` the service reads every file, which takes as long as reading them does.',
    query: StorageCheckQuery,
    response: StorageCheck,
    returns: 'The differences',
  }),
  repairStorage: route(FOR_ADMINS_OF_ALL, 'POST', '/doctor/repair', {
    summary: 'Repair what the storage has lost',
    description:
      'Compares the storage with the database. A recording whose file is gone waits for it again, with the reason, and is fetched if the partner still lists it. Files without a row are removed with `removeOrphans` only. A file that differs is listed.',
    body: StorageRepairRequest,
    response: StorageRepair,
    isBodyOptional: true,
    returns: 'What was done',
  }),
} as const satisfies AdminRoutes;
