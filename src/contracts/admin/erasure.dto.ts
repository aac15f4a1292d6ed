import { ObjectField, TextListField } from '../common/fields/nested-fields.js';
import { EnumField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { ANY_CAMERA, CONNECTION, TRUCK } from './recording.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c50';
const HAULER = { description: 'The hauler', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' };
const ACCOUNT = { description: 'An account of the hauler', example: ID };
const ERASED_CAMERA = { ...ANY_CAMERA, description: 'One camera; all cameras of the truck if absent', optional: true };
const FROM = { description: 'Start of the range', example: '2026-01-31T10:00:00Z' };
const TO = { description: 'End of the range, at most 366 days later', example: '2026-01-31T11:00:00Z' };
const CODE = { description: 'Code of the preview', min: 1, max: 20, example: 'K7QF2M' };
const STATUSES = ['previewed', 'running', 'done', 'stopped', 'failed'] as const;
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
}

export const ERASURE_EXAMPLES = {
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

export class ConfirmErasure {
  @TextField(CODE)
  confirmationCode!: string;
}

export class ErasureQuery extends ListQuery {
  @UuidField({ ...HAULER, optional: true })
  haulerId?: string;

  @EnumField({ description: 'State', values: STATUSES, optional: true, example: 'done' })
  status?: (typeof STATUSES)[number];
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

  @count('Exchanges whose bodies and references were redacted')
  exchanges!: number;

  @count('Stored answers of the Idempotency-Key')
  answers!: number;

  @count('Tickets whose custom fields named the account')
  tickets!: number;

  @count('Stored pushes of tickets that named it')
  revisions!: number;

  @count('Actions of the action log whose changes named it')
  actions!: number;

  @count('Webhook deliveries that named it, with the answers of their receivers')
  deliveries!: number;

  @count("Kept parts of partners' lists that named an erased range of a truck")
  findings!: number;
}

/** A preview, then the receipt. */
export class Erasure extends ErasureTarget {
  @UuidField({ description: 'Id of the erasure', example: ID })
  id!: string;

  @UuidField(HAULER)
  haulerId!: string;

  @EnumField({ description: 'What is erased', values: KINDS, example: 'footage' })
  kind!: (typeof KINDS)[number];

  @EnumField({
    description:
      '`previewed`: nothing is erased yet; `running`; `done`; `stopped`: a hold that was created meanwhile keeps the rest; `failed`: see `reason`',
    values: STATUSES,
    example: 'previewed',
  })
  status!: (typeof STATUSES)[number];

  @TextField({ ...CODE, description: 'Needed to confirm, until `expiresAt`', optional: true })
  confirmationCode?: string;

  @InstantField({ description: 'Until when it can be confirmed', optional: true, example: '2026-02-03T11:00:00Z' })
  expiresAt?: string;

  @ObjectField(() => ErasureCounts, { description: 'What the preview found' })
  preview!: ErasureCounts;

  @ObjectField(() => ErasureCounts, { description: 'What was erased so far' })
  erased!: ErasureCounts;

  @TextListField({
    description: 'Where copies may remain that an erasure does not reach',
    maxLength: 300,
    example: ['Backups: each has the data of its time until you delete it.'],
  })
  notReached!: string[];

  @TextField({ description: 'Why it stopped, failed or waits', max: 4_000, optional: true })
  reason?: string;

  @InstantField({ description: 'When the preview was made', example: '2026-02-03T10:00:00Z' })
  createdAt!: string;

  @TextField({ description: 'Who asked for it, as the action log names them', max: 255, example: 'console' })
  createdBy!: string;

  @InstantField({ description: 'When it was confirmed', optional: true, example: '2026-02-03T10:05:00Z' })
  confirmedAt?: string;

  @TextField({ description: 'Who confirmed it', max: 255, optional: true, example: 'console' })
  confirmedBy?: string;

  @InstantField({ description: 'When it ended', optional: true, example: '2026-02-03T10:06:00Z' })
  finishedAt?: string;
}
