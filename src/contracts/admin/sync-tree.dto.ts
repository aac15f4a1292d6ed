import { ArrayField, ObjectField, TextListField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { SYNC_CHANGES, type SyncChangeName } from './sync-change.dto.js';
import { SYNC_KINDS, type SyncKind } from './sync-kinds.js';

const ID = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
const number = (description: string, example: number) => ({
  description,
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
  example,
});
const CHANGED_FIELDS = { description: 'Fields that differ', maxLength: 64, max: 20, example: ['name'] };

/** More changed records of a site are counted, not listed. */
export const MAX_TREE_RECORDS = 100;

/** The disposal tickets of the last 30 days that name a site or material. */
export class TicketUse {
  @IntegerField(number('How many', 17))
  count!: number;

  @BooleanField({
    description: 'Whether there may be more: the newest 1,000 tickets of a site are read',
    example: false,
  })
  more!: boolean;
}

/** A kiosk or material that a run changed. */
export class SyncTreeRecord {
  @EnumField({ description: 'Kind of record', values: SYNC_KINDS, example: 'materials' })
  kind!: SyncKind;

  @UuidField({ description: "The partner's id of the record", example: ID })
  externalId!: string;

  @TextField({ description: 'Name of the record; of a material its type', max: 255, example: 'Concrete' })
  name!: string;

  @EnumField({ description: '`held`: a confirmation removes it', values: SYNC_CHANGES, example: 'held' })
  change!: SyncChangeName;

  @TextListField(CHANGED_FIELDS)
  changes!: string[];

  @ObjectField(() => TicketUse, { description: 'Of a material: tickets of the site that name it', optional: true })
  tickets?: TicketUse;
}

/** A site of which a run changed something. */
export class SyncTreeSite {
  @UuidField({
    description: "The partner's id of the site; null for records of no known site",
    nullable: true,
    example: ID,
  })
  externalId!: string | null;

  @TextField({
    description: 'Its name; null if no site with this id is stored',
    max: 255,
    nullable: true,
    example: 'North',
  })
  name!: string | null;

  @EnumField({
    description: 'What the run did to the site; null if only to its kiosks and materials',
    values: SYNC_CHANGES,
    nullable: true,
    example: 'held',
  })
  change!: SyncChangeName | null;

  @TextListField(CHANGED_FIELDS)
  changes!: string[];

  @ObjectField(() => TicketUse, { description: 'Tickets of the site' })
  tickets!: TicketUse;

  @InstantField({ description: 'Tickets since this time are counted', example: '2026-10-21T14:03:27.512Z' })
  ticketsFrom!: string;

  @UuidField({ description: 'The hauler', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  haulerId!: string;

  @IntegerField(number('Changed kiosks and materials, also those that are not listed', 2))
  total!: number;

  @ArrayField(() => SyncTreeRecord, {
    description: 'Its changed kiosks and materials, those that would be removed first',
    max: MAX_TREE_RECORDS,
  })
  records!: SyncTreeRecord[];
}
