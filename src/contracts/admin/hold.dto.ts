import { Integer, Name, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, max, optional, between } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { HOLD_STATUSES, type HoldStatus, MISSING_CAUSE_CODES, type MissingCause } from './footage.values.js';
import { ListQuery } from './list.dto.js';
import { ConnectionId, DryRun, HaulerId, PARTNER_NAME, TruckId } from './fields.js';

/** A truck with four cameras and chunks of a minute has two million recordings in this time. */
export const MAX_HOLD_DAYS = 366;

/** More missing ranges are not listed. */
export const MAX_MISSING = 200;

export class CreateHold {
  @Name('The case, claim or letter that needs the footage', max(255), example('CLAIM-2026-117')) caseId!: string;
  @Name('Why it is held', max(1_000), example('Collision on Main St, letter of 3 February')) reason!: string;
  @ConnectionId() connectionId!: string;
  @TruckId() truckId!: string;
  @Text(
    'One camera, by any name that the partner uses for it; all cameras of the truck if absent',
    PARTNER_NAME,
    optional,
    example('front'),
  )
  cameraId?: string;
  @Time('Start of the held range', example('2026-01-31T08:00:00Z')) from!: Instant;
  @Time(
    `End of the held range, at most ${MAX_HOLD_DAYS} days later; it may be in the future`,
    example('2026-01-31T09:00:00Z'),
  )
  to!: Instant;
}

export class ReleaseHold {
  @Name('Why it is released', max(1_000), example('Settled on 4 May')) reason!: string;
  @DryRun() dryRun?: boolean;
}

export class HoldQuery extends ListQuery {
  @Uuid('Of this hauler', optional) haulerId?: string;
  @ConnectionId(optional) connectionId?: string;
  @TruckId(optional) truckId?: string;
  @Text('The case, claim or letter that needs the footage', between(1, 255), optional) caseId?: string;
  @OneOf('Active or released', HOLD_STATUSES, optional) status?: HoldStatus;
  @Time('Holds of footage after this time', inQuery, optional) from?: Instant;
  @Time('Holds of footage before this time', inQuery, optional) to?: Instant;
}

/** A range of a truck whose footage is kept, whatever the retention. */
export class Hold extends CreateHold {
  @Uuid('Id of the hold') id!: string;
  @HaulerId() haulerId!: string;
  @OneOf('A released hold stays in the list', HOLD_STATUSES) status!: HoldStatus;
  @Time('When it was created') createdAt!: string;
  @Text('Who created it, as the action log names them', example('console')) createdBy!: string;
  @Time('When it was released', optional) releasedAt?: string;
  @Text('Who released it', optional, example('console')) releasedBy?: string;
  @Text('Why it was released', optional, example('Settled on 4 May')) releaseReason?: string;
}

/** What a hold keeps. Another hold may keep some of it. */
export class KeptByHold {
  @Integer('Stored recordings in its range', example(12)) stored!: number;
  @Integer('Their size in bytes', example(12)) bytes!: number;
}

export class ReleasedHold extends Hold {
  @Nested('What it would no longer keep; of a dry run alone', KeptByHold, optional) preview?: KeptByHold;
}

/** Held time of which no file is stored or waits to be downloaded. */
export class MissingFootage {
  @Text('The camera; absent where none of the truck is known', optional, example('front')) cameraId?: string;
  @Time('Start') from!: string;
  @Time('End') to!: string;
  @OneOf(
    '`deleted`: retention has deleted it; `erased`: an erasure has; `lost`: its download failed or expired; `monthRemoved`: it is older than VIDEO_ROWS_DAYS, so that the service no longer knows what there was; `notListed`: the service knows no recording of it, because none was made or none was listed',
    MISSING_CAUSE_CODES,
  )
  cause!: MissingCause;
}

/** A hold with what it holds at this moment. */
export class HoldDetails extends Hold {
  @Integer('Stored recordings in the range', example(12)) stored!: number;
  @Integer('Their size in bytes', example(12)) bytes!: number;
  @Integer('Listed recordings in the range that wait to be downloaded', example(12)) waiting!: number;
  @NestedList(`Time up to now of which nothing is held, the earliest first, at most ${MAX_MISSING}`, MissingFootage)
  missing!: MissingFootage[];
}
