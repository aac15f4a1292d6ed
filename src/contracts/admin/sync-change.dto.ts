import { Documented } from '../common/fields/documented.js';
import { DOCUMENTED_MAX } from '../common/fields/field.js';
import { EnumField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { TextListField } from '../common/fields/nested-fields.js';
import { ListQuery } from './list.dto.js';
import { SYNC_KINDS, type SyncKind } from './sync-kinds.js';

const ID = '0197a1d0-51aa-7e20-b1c4-3a5c7e9f1b24';
export const SYNC_CHANGES = ['created', 'updated', 'deactivated', 'restored', 'held'] as const;
export type SyncChangeName = (typeof SYNC_CHANGES)[number];

export class SyncChangeQuery extends ListQuery {
  @EnumField({ description: 'Records of this kind only', values: SYNC_KINDS, optional: true })
  kind?: SyncKind;

  @EnumField({ description: 'Changes of this type only', values: SYNC_CHANGES, optional: true })
  change?: (typeof SYNC_CHANGES)[number];
}

const changedRecord = (description: string) =>
  Documented({ description, type: 'object', additionalProperties: true, nullable: true, example: { name: 'North' } });

/** A record that a run changed, or would change once it is confirmed. */
export class SyncChange {
  @EnumField({ description: 'Kind of record', values: SYNC_KINDS, example: 'sites' })
  kind!: SyncKind;

  @EnumField({
    description: '`held`: the record is active, and a confirmation removes it.',
    values: SYNC_CHANGES,
    example: 'updated',
  })
  change!: SyncChangeName;

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
