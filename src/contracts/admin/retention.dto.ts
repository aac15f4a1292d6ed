import { ArrayField } from '../common/fields/nested-fields.js';
import { BooleanField, InstantField, IntegerField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { CONNECTION, TRUCK } from './recording.dto.js';

const HAULER = { description: 'The hauler', example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' };
const count = { min: 0, max: Number.MAX_SAFE_INTEGER, example: 12 };

/** A hundred years. */
const MAX_DAYS = 36_525;
const DAYS = { min: 1, max: MAX_DAYS, example: 90 };
const ON_DEMAND = 'Days that the files of requested clips are kept after they were stored';
const CONTINUOUS = 'Days that the files of continuous recordings are kept after they were stored';

/** More trucks are counted in the sums alone. */
export const MAX_TRUCKS = 100;

export class SetRetention {
  @IntegerField({ description: `${ON_DEMAND}; null or absent: for ever`, ...DAYS, nullable: true, optional: true })
  onDemandDays?: number | null;

  @IntegerField({ description: `${CONTINUOUS}; null or absent: for ever`, ...DAYS, nullable: true, optional: true })
  continuousDays?: number | null;

  @BooleanField({ description: 'Needed to shorten a retention', optional: true, example: true })
  confirm?: boolean;

  @IntegerField({
    description: 'Needed to shorten a retention: `recordings` of the preview. More than these are never deleted by it',
    ...count,
    optional: true,
  })
  recordings?: number;
}

export class HaulerRetention {
  @UuidField(HAULER)
  haulerId!: string;

  @IntegerField({ description: `${ON_DEMAND}; null: for ever`, ...DAYS, nullable: true })
  onDemandDays!: number | null;

  @IntegerField({ description: `${CONTINUOUS}; null: for ever`, ...DAYS, nullable: true })
  continuousDays!: number | null;

  @BooleanField({
    description:
      'Whether nobody has set it: then it is the longest VIDEO_RETENTION_DAYS that the service has had since the hauler was created',
    example: false,
  })
  isDefault!: boolean;

  @InstantField({ description: 'When it was set', optional: true, example: '2026-02-03T10:00:00Z' })
  changedAt?: string;

  @TextField({ description: 'Who set it', max: 255, optional: true, example: 'console' })
  changedBy?: string;
}

const PREVIEWED = {
  min: 0,
  max: MAX_DAYS,
  optional: true,
  inQuery: true,
  example: 30,
};

export class RetentionPreviewQuery {
  @UuidField(HAULER)
  haulerId!: string;

  @IntegerField({ ...PREVIEWED, description: `${ON_DEMAND}; 0: for ever; absent: as it is` })
  onDemandDays?: number;

  @IntegerField({ ...PREVIEWED, description: `${CONTINUOUS}; 0: for ever; absent: as it is` })
  continuousDays?: number;
}

/** Stored recordings that would be deleted. */
class Deletable {
  @IntegerField({ description: 'Recordings whose files would be deleted', ...count })
  recordings!: number;

  @IntegerField({ description: 'Their size in bytes', ...count })
  bytes!: number;

  @IntegerField({ description: 'Recordings of that age which a hold keeps, and their files with them', ...count })
  held!: number;

  @InstantField({
    description: 'Start of the oldest of those that would be deleted; absent where there is none',
    optional: true,
    example: '2025-10-01T06:00:00Z',
  })
  oldest?: string;

  @InstantField({ description: 'Start of the newest of them', optional: true, example: '2025-10-31T18:00:00Z' })
  newest?: string;
}

export class DeletableOfTruck extends Deletable {
  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField(TRUCK)
  truckId!: string;
}

/** What a retention would delete at this moment. */
export class RetentionPreview extends Deletable {
  @ArrayField(() => DeletableOfTruck, {
    description: `By truck, the one with most first, at most ${MAX_TRUCKS}`,
    max: MAX_TRUCKS,
  })
  trucks!: DeletableOfTruck[];
}
