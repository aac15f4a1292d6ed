import { Json, OneOf, Text, TextList, Uuid } from '../common/fields/decorators.js';
import { example, nullable, optional } from '../common/fields/options.js';
import { ListQuery } from './list.dto.js';
import { SYNC_CHANGES, SYNC_KINDS, type SyncChangeName, type SyncKind } from './sync.values.js';

export class SyncChangeQuery extends ListQuery {
  @OneOf('Records of this kind only', SYNC_KINDS, optional) kind?: SyncKind;
  @OneOf('Changes of this type only', SYNC_CHANGES, optional) change?: SyncChangeName;
}

const ChangedRecord = (description: string) =>
  Json(description, { type: 'object', additionalProperties: true }, nullable, example({ name: 'North' }));

/** A record that a run changed, or would change once it is confirmed. */
export class SyncChange {
  @OneOf('Kind of record', SYNC_KINDS) kind!: SyncKind;
  @OneOf('`held`: the record is active, and a confirmation removes it.', SYNC_CHANGES, example('updated'))
  change!: SyncChangeName;
  @Uuid("The partner's id of the record") externalId!: string;
  @Text('Name of the record; of a material its type', example('North')) name!: string;
  @ChangedRecord('The record before; null if it was created') before!: Readonly<Record<string, unknown>> | null;
  @ChangedRecord('The record after the change') after!: Readonly<Record<string, unknown>> | null;
  @TextList('Fields that differ', example(['name'])) changes!: string[];
}
