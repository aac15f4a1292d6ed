import { Flag, Integer, Nested, NestedList, Text, Time } from '../common/fields/decorators.js';
import { between, example, min, nullable, optional } from '../common/fields/options.js';
import { ConnectionId, DryRun, HaulerId, TruckId } from './fields.js';
import { type AdminRoutes, change, FOR_ADMINS_OF_ALL, FOR_VIEWERS, one, route } from './route-helpers.js';
import { RetentionRequest, RetentionResult } from './storage.routes.js';

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

/** For how long video is kept. */
export const RETENTION_ROUTES = {
  getHaulerRetention: one(FOR_VIEWERS, '/haulers/{id}/retention', 'hauler', HaulerRetention, {
    summary: 'Read for how long the video of a hauler is kept',
    description: 'By source. Without a setting of its own it is the longest default since the hauler was created.',
    returns: 'The retention',
  }),
  setHaulerRetention: change(FOR_ADMINS_OF_ALL, 'PUT', '/haulers/{id}/retention', 'hauler', {
    summary: 'Set for how long the video of a hauler is kept',
    description:
      'It counts at once: the next hourly run deletes what is older. Send `dryRun` first: its `preview` has the recordings that would be deleted.',
    body: SetRetention,
    response: HaulerRetention,
  }),
  runRetention: route(FOR_ADMINS_OF_ALL, 'POST', '/retention', {
    summary: 'Delete stored video by age now',
    description:
      'Deletes what is older than the retention of its hauler, unless a hold keeps it, as the service does every hour.',
    body: RetentionRequest,
    response: RetentionResult,
    isBodyOptional: true,
    returns: 'The number of deleted recordings',
  }),
} as const satisfies AdminRoutes;
