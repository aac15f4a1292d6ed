import { Flag, Integer, Nested, NestedList, OneOf, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, nullable, optional } from '../common/fields/options.js';
import { SYNC_CHANGES, type SyncChangeName } from './sync.values.js';
import { SYNC_KINDS, type SyncKind } from './sync.values.js';
import { HaulerId } from './fields.js';

/** More changed records of a site are counted, not listed. */
export const MAX_TREE_RECORDS = 100;

/** The disposal tickets of the last 30 days that name a site or material. */
export class TicketUse {
  @Integer('How many', example(17)) count!: number;
  @Flag('Whether there may be more: the newest 1,000 tickets of a site are read', example(false)) more!: boolean;
}

/** A kiosk or material that a run changed. */
export class SyncTreeRecord {
  @OneOf('Kind of record', SYNC_KINDS, example('materials')) kind!: SyncKind;
  @Uuid("The partner's id of the record") externalId!: string;
  @Text('Name of the record; of a material its type', example('Concrete')) name!: string;
  @OneOf('`held`: a confirmation removes it', SYNC_CHANGES, example('held')) change!: SyncChangeName;
  @TextList('Fields that differ', example(['name'])) changes!: string[];
  @Nested('Of a material: tickets of the site that name it', TicketUse, optional) tickets?: TicketUse;
}

/** A site of which a run changed something. */
export class SyncTreeSite {
  @Uuid("The partner's id of the site; null for records of no known site", nullable) externalId!: string | null;
  @Text('Its name; null if no site with this id is stored', nullable, example('North')) name!: string | null;
  @OneOf('What the run did to the site; null if only to its kiosks and materials', SYNC_CHANGES, nullable)
  change!: SyncChangeName | null;
  @TextList('Fields that differ', example(['name'])) changes!: string[];
  @Nested('Tickets of the site', TicketUse) tickets!: TicketUse;
  @Time('Tickets since this time are counted') ticketsFrom!: string;
  @HaulerId() haulerId!: string;
  @Integer('Changed kiosks and materials, also those that are not listed', example(2)) total!: number;
  @NestedList('Its changed kiosks and materials, those that would be removed first', SyncTreeRecord)
  records!: SyncTreeRecord[];
}
