import { ArrayField, ObjectField, TextListField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { ANY_CAMERA, CONNECTION, TRUCK } from './recording.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c50';
const HAULER = { description: 'The hauler', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' };
const ACCOUNT = { description: 'An account of the hauler', example: ID };
const ERASED_CAMERA = { ...ANY_CAMERA, description: 'One camera; all cameras of the truck if absent', optional: true };
const FROM = { description: 'Start of the range', example: '2026-01-31T10:00:00Z' };
const TO = { description: 'End of the range, at most 366 days later', example: '2026-01-31T11:00:00Z' };
const STORED_STATUSES = ['running', 'done', 'stopped', 'failed'] as const;
const STATUSES = ['previewed', ...STORED_STATUSES] as const;
const KINDS = ['account', 'footage'] as const;

class ErasureTarget {
  @UuidField({ ...ACCOUNT, optional: true })
  accountId?: string;

  @UuidField({ ...CONNECTION, optional: true })
  connectionId?: string;

  @TextField({ ...TRUCK, optional: true })
  truckId?: string;

  @TextField(ERASED_CAMERA)
  cameraId?: string;

  @InstantField({ ...FROM, optional: true })
  from?: Instant;

  @InstantField({ ...TO, optional: true })
  to?: Instant;
}

/** Either an account of a hauler, or a range of a truck. */
export class CreateErasure extends ErasureTarget {
  @UuidField({ ...HAULER, optional: true })
  haulerId?: string;

  @BooleanField({ description: 'Only count what would be erased', optional: true, example: true })
  dryRun?: boolean;
}

export const ERASURE_EXAMPLES = {
  preview: {
    summary: 'What the erasure of an account would erase',
    value: { haulerId: HAULER.example, accountId: ID, dryRun: true },
  },
  account: { summary: 'An account', value: { haulerId: HAULER.example, accountId: ID } },
  footage: {
    summary: 'A range of a truck',
    value: {
      connectionId: CONNECTION.example,
      truckId: TRUCK.example,
      from: FROM.example,
      to: TO.example,
    },
  },
};

export class ErasureQuery extends ListQuery {
  @UuidField({ ...HAULER, optional: true })
  haulerId?: string;

  @EnumField({ description: 'State', values: STORED_STATUSES, optional: true, example: 'done' })
  status?: (typeof STORED_STATUSES)[number];
}

const count = (description: string) => IntegerField({ description, min: 0, max: Number.MAX_SAFE_INTEGER, example: 0 });

/** Numbers alone. */
export class ErasureCounts {
  @count('Accounts')
  accounts!: number;

  @count('Recordings, with their files')
  recordings!: number;

  @count('Bytes of these files')
  bytes!: number;

  @count('Of these files: those whose old versions remain in the bucket, because they could not be deleted')
  versionsLeft!: number;

  @count('Exchanges whose bodies and references were redacted')
  exchanges!: number;

  @count('Tickets with a custom field that was its id, number, name, address or phone')
  tickets!: number;

  @count('Stored pushes of tickets with such a custom field')
  revisions!: number;

  @count("Kept parts of partners' lists that named an erased range of a truck")
  findings!: number;
}

/** What an erasure leaves, because it is deleted by age. */
export class EndsByItself {
  @TextField({
    description: 'What may still name the erased',
    max: 300,
    example: 'Stored answers of the Idempotency-Key.',
  })
  what!: string;

  @TextField({ description: 'The last day (UTC) on which it is there', max: 10, example: '2026-02-04' })
  until!: string;
}

/** The progress and then the receipt of an erasure, or what a dry run has counted. */
export class Erasure extends ErasureTarget {
  @UuidField({ description: 'Id of the erasure; absent for a dry run', optional: true, example: ID })
  id?: string;

  @UuidField(HAULER)
  haulerId!: string;

  @EnumField({ description: 'What is erased', values: KINDS, example: 'footage' })
  kind!: (typeof KINDS)[number];

  @EnumField({
    description:
      '`previewed`: a dry run, which erased nothing; `running`; `done`; `stopped`: a hold that was created meanwhile keeps the rest; `failed`: see `reason`',
    values: STATUSES,
    example: 'done',
  })
  status!: (typeof STATUSES)[number];

  @ObjectField(() => ErasureCounts, { description: 'What would be erased; of a dry run alone', optional: true })
  preview?: ErasureCounts;

  @ObjectField(() => ErasureCounts, { description: 'What was erased so far' })
  erased!: ErasureCounts;

  @TextListField({
    description: 'Where copies may remain that an erasure does not reach',
    maxLength: 1_000,
    example: ['Backups: each has the data of its time until you delete it.'],
  })
  notReached!: string[];

  @ArrayField(() => EndsByItself, { description: 'What ends by itself, with the day', max: 10 })
  endsByItself!: EndsByItself[];

  @TextField({ description: 'Why it stopped, failed or waits', max: 4_000, optional: true })
  reason?: string;

  @InstantField({ description: 'When it was requested', example: '2026-02-03T10:00:00Z' })
  createdAt!: string;

  @TextField({ description: 'Who asked for it, as the action log names them', max: 255, example: 'console' })
  createdBy!: string;

  @InstantField({ description: 'When it ended', optional: true, example: '2026-02-03T10:06:00Z' })
  finishedAt?: string;
}
