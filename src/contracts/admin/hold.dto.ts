import { ArrayField } from '../common/fields/nested-fields.js';
import {
  EnumField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { ANY_CAMERA, CONNECTION, TRUCK } from './recording.dto.js';

const ID = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4f';

/** A truck with four cameras and chunks of a minute has two million recordings in this time. */
export const MAX_HOLD_DAYS = 366;

/** More missing ranges are not listed. */
export const MAX_MISSING = 200;

const CASE = { description: 'The case, claim or letter that needs the footage', max: 255, example: 'CLAIM-2026-117' };
const REASON = { description: 'Why it is held', max: 1_000, example: 'Collision on Main St, letter of 3 February' };
const HOLD_CAMERA = {
  ...ANY_CAMERA,
  description: 'One camera, by any name that the partner uses for it; all cameras of the truck if absent',
  optional: true,
};
const FROM = { description: 'Start of the held range', example: '2026-01-31T08:00:00Z' };
const TO = {
  description: `End of the held range, at most ${MAX_HOLD_DAYS} days later; it may be in the future`,
  example: '2026-01-31T09:00:00Z',
};
const STATUSES = ['active', 'released'] as const;

export class CreateHold {
  @NameField(CASE)
  caseId!: string;

  @NameField(REASON)
  reason!: string;

  @UuidField(CONNECTION)
  connectionId!: string;

  @TextField(TRUCK)
  truckId!: string;

  @TextField(HOLD_CAMERA)
  cameraId?: string;

  @InstantField(FROM)
  from!: Instant;

  @InstantField(TO)
  to!: Instant;
}

export class ReleaseHold {
  @NameField({ description: 'Why it is released', max: 1_000, example: 'Settled on 4 May' })
  reason!: string;
}

export class HoldQuery extends ListQuery {
  @UuidField({ description: 'Of this hauler', optional: true, example: ID })
  haulerId?: string;

  @UuidField({ ...CONNECTION, optional: true })
  connectionId?: string;

  @TextField({ ...TRUCK, optional: true })
  truckId?: string;

  @TextField({ ...CASE, min: 1, optional: true })
  caseId?: string;

  @EnumField({ description: 'Active or released', values: STATUSES, optional: true, example: 'active' })
  status?: (typeof STATUSES)[number];

  @InstantField({ description: 'Holds of footage after this time', optional: true, inQuery: true })
  from?: Instant;

  @InstantField({ description: 'Holds of footage before this time', optional: true, inQuery: true })
  to?: Instant;
}

/** A range of a truck whose footage is kept, whatever the retention. */
export class Hold extends CreateHold {
  @UuidField({ description: 'Id of the hold', example: ID })
  id!: string;

  @UuidField({ description: 'Hauler of the footage', example: ID })
  haulerId!: string;

  @EnumField({ description: 'A released hold stays in the list', values: STATUSES, example: 'active' })
  status!: (typeof STATUSES)[number];

  @InstantField({ description: 'When it was created', example: '2026-02-03T10:00:00Z' })
  createdAt!: string;

  @TextField({ description: 'Who created it, as the action log names them', max: 255, example: 'console' })
  createdBy!: string;

  @InstantField({ description: 'When it was released', optional: true, example: '2026-05-04T10:00:00Z' })
  releasedAt?: string;

  @TextField({ description: 'Who released it', max: 255, optional: true, example: 'console' })
  releasedBy?: string;

  @TextField({ description: 'Why it was released', max: 1_000, optional: true, example: 'Settled on 4 May' })
  releaseReason?: string;
}

const MISSING_CAUSES = ['deleted', 'lost', 'notListed', 'erased', 'monthRemoved'] as const;

/** Held time of which no file is stored or waits to be downloaded. */
export class MissingFootage {
  @TextField({ ...ANY_CAMERA, description: 'The camera; absent where none of the truck is known', optional: true })
  cameraId?: string;

  @InstantField({ description: 'Start', example: '2026-01-31T08:30:00Z' })
  from!: string;

  @InstantField({ description: 'End', example: '2026-01-31T08:35:00Z' })
  to!: string;

  @EnumField({
    description:
      '`deleted`: retention has deleted it; `erased`: an erasure has; `lost`: its download failed or expired; `monthRemoved`: its month is older than VIDEO_ROWS_DAYS and was removed, so that the service no longer knows what there was; `notListed`: the service knows no recording of it, because none was made or none was listed',
    values: MISSING_CAUSES,
    example: 'deleted',
  })
  cause!: (typeof MISSING_CAUSES)[number];
}

const count = { min: 0, max: Number.MAX_SAFE_INTEGER, example: 12 };

/** A hold with what it holds at this moment. */
export class HoldDetails extends Hold {
  @IntegerField({ description: 'Stored recordings in the range', ...count })
  stored!: number;

  @IntegerField({ description: 'Their size in bytes', ...count })
  bytes!: number;

  @IntegerField({ description: 'Listed recordings in the range that wait to be downloaded', ...count })
  waiting!: number;

  @ArrayField(() => MissingFootage, {
    description: `Time up to now of which nothing is held, the earliest first, at most ${MAX_MISSING}`,
    max: MAX_MISSING,
  })
  missing!: MissingFootage[];
}
