import { InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';

const HAULER = { description: 'Hauler of the connection', example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' };
const CONNECTION = {
  description: 'Vision connection of the response',
  example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e',
};
const FIRST = { description: 'When it was first seen', example: '2026-01-31T08:36:00Z' };

/** The filters that the partner of a connection has too. */
export class VisionFindingFilters extends ListQuery {
  @InstantField({
    description: 'First seen at this time or later',
    optional: true,
    inQuery: true,
  })
  from?: Instant;

  @InstantField({ description: 'First seen before this time', optional: true, inQuery: true })
  to?: Instant;
}

export class VisionFindingQuery extends VisionFindingFilters {
  @UuidField({ ...HAULER, optional: true })
  haulerId?: string;

  @UuidField({ ...CONNECTION, optional: true })
  connectionId?: string;
}

/** One error in a partner's responses (decision 38), with the number of occurrences. */
export class VisionFinding {
  @UuidField(HAULER)
  haulerId!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField({ description: 'Path in the response', max: 2_000, example: 'data.recordings[12].startTime' })
  path!: string;

  @TextField({ description: 'The error', max: 2_000, example: 'must be a date-time with an offset' })
  reason!: string;

  @TextField({ description: 'The element, its links without their signatures', max: 2_000, optional: true })
  raw?: string;

  @IntegerField({ description: 'Number of occurrences', min: 1, max: Number.MAX_SAFE_INTEGER, example: 3 })
  seen!: number;

  @InstantField(FIRST)
  firstSeenAt!: string;

  @InstantField({ description: 'When it was last seen', example: '2026-01-31T09:36:00Z' })
  lastSeenAt!: string;
}
