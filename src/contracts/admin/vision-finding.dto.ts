import { Integer, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, min, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { ConnectionId, HaulerId } from './fields.js';

/** The filters that the partner of a connection has too. */
export class VisionFindingFilters extends ListQuery {
  @Time('First seen at this time or later', inQuery, optional) from?: Instant;
  @Time('First seen before this time', inQuery, optional) to?: Instant;
}

export class VisionFindingQuery extends VisionFindingFilters {
  @Uuid('Hauler of the connection', optional) haulerId?: string;
  @ConnectionId(optional) connectionId?: string;
}

/** One error in a partner's responses (decision 38), with the number of occurrences. */
export class VisionFinding {
  @HaulerId() haulerId!: string;
  @ConnectionId() connectionId!: string;
  @Text('Path in the response', example('data.recordings[12].startTime')) path!: string;
  @Text('The error', example('must be a date-time with an offset')) reason!: string;
  @Text('The element, its links without their signatures', optional) raw?: string;
  @Integer('Number of occurrences', min(1), example(3)) seen!: number;
  @Time('When it was first seen') firstSeenAt!: string;
  @Time('When it was last seen') lastSeenAt!: string;
}
