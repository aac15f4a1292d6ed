import { Flag, Integer, Nested, NestedList, Text, Time } from '../common/fields/decorators.js';
import { example, min, nullable, optional, between } from '../common/fields/options.js';
import { ConnectionId, DryRun, HaulerId, TruckId } from './fields.js';

/** A hundred years. */
const MAX_DAYS = 36_525;

/** More trucks are counted in the sums alone. */
export const MAX_TRUCKS = 100;

const keptClips = (none: string) => `Days that the files of requested clips are kept after they were stored; ${none}`;
const keptRecordings = (none: string) =>
  `Days that the files of continuous recordings are kept after they were stored; ${none}`;

const ABSENT = 'null or absent: for ever';

export class SetRetention {
  @Integer(keptClips(ABSENT), between(1, MAX_DAYS), optional, nullable, example(90)) onDemandDays?: number | null;
  @Integer(keptRecordings(ABSENT), between(1, MAX_DAYS), optional, nullable, example(90)) continuousDays?:
    number | null;
  @DryRun() dryRun?: boolean;
}

/** Stored recordings that would be deleted. */
class Deletable {
  @Integer('Recordings whose files would be deleted', example(12)) recordings!: number;
  @Integer('Their size in bytes', example(12)) bytes!: number;
  @Integer('Recordings of that age which a hold keeps, and their files with them', example(12)) held!: number;
  @Time('Start of the oldest of those that would be deleted; absent where there is none', optional) oldest?: string;
  @Time('Start of the newest of them', optional) newest?: string;
}

export class DeletableOfTruck extends Deletable {
  @ConnectionId() connectionId!: string;
  @TruckId() truckId!: string;
}

/** What a retention would delete at this moment. */
export class RetentionPreview extends Deletable {
  @NestedList(`By truck, the one with most first, at most ${MAX_TRUCKS}`, DeletableOfTruck) trucks!: DeletableOfTruck[];
}

export class HaulerRetention {
  @HaulerId() haulerId!: string;
  @Integer(keptClips('null: for ever'), min(1), nullable) onDemandDays!: number | null;
  @Integer(keptRecordings('null: for ever'), min(1), nullable) continuousDays!: number | null;
  @Flag('Whether nobody has set it: then it is VIDEO_RETENTION_DAYS as it was when the hauler was created')
  isDefault!: boolean;
  @Time('When it was set', optional) changedAt?: string;
  @Text('Who set it', optional, example('console')) changedBy?: string;
  @Nested('What it would delete at this moment; of a dry run alone', RetentionPreview, optional)
  preview?: RetentionPreview;
}
