import { Decimal, Integer, Name, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, inQuery, max, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { HOLD_STATUSES, type HoldStatus, MISSING_CAUSE_CODES, type MissingCause } from './footage.values.js';
import { IdParam, ListQuery } from './list.dto.js';
import { CameraId, ConnectionId, CustomerId, DryRun, HaulerId, PARTNER_NAME, TruckId } from './fields.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_OPERATORS,
  FOR_OPERATORS_OF_ALL,
  FOR_VIEWERS,
  list,
  one,
  route,
} from './route-helpers.js';

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

/** A bundle of more is asked for in parts: its list is in memory until the last file is sent. */
export const MAX_BUNDLE_RECORDINGS = 20_000;

export class HoldBundleQuery {
  @Time('Only recordings that end after this time, for a part of a large hold', inQuery, optional) endsAfter?: Instant;
  @Time('Only recordings that start before this time', inQuery, optional) startsBefore?: Instant;
}

const BUNDLE_PROBLEM_KINDS = ['gone', 'differs'] as const;
export type BundleProblem = (typeof BUNDLE_PROBLEM_KINDS)[number];

/** One recording of a hold, in `manifest.json` of its bundle. */
export class BundledRecording {
  @Text('Its file in the archive; absent where there is none', optional) file?: string;
  @OneOf(
    '`gone`: the video storage has lost the file; `differs`: the file is in the archive, with another size or SHA-256 than when it was stored',
    BUNDLE_PROBLEM_KINDS,
    optional,
  )
  problem?: BundleProblem;
  @TruckId() truckId!: string;
  @CameraId() cameraId!: string;
  @Time('Start of the recorded time') startTime!: string;
  @Time('End of the recorded time') endTime!: string;
  @Decimal('Length in seconds', example(300)) durationSeconds!: number;
  @Text('State: only a `stored` one has a file', example('stored')) status!: string;
  @Text('Reason for the state', optional) reason?: string;
  @Integer('Bytes as stored', optional, example(5_242_880)) sizeBytes?: number;
  @Text('SHA-256 as stored, when it was downloaded', optional) sha256?: string;
  @Integer('Bytes as written to the archive', optional, example(5_242_880)) writtenBytes?: number;
  @Text('SHA-256 as computed while the archive was written', optional) writtenSha256?: string;
  @Text('How it was fetched: requested clip or continuous list', example('continuous')) source!: string;
  @Time('When it was first listed by the partner') listedAt!: string;
  @Time('When its file was stored', optional) storedAt?: string;
  @Uuid('Id of the recording') id!: string;
  @HaulerId() haulerId!: string;
  @ConnectionId() connectionId!: string;
  @Text("Address of the partner's API", example('https://partner.example')) connectionUrl!: string;
  @Text("The partner's id of the recording", example('chunk-4711')) partnerRecordingId!: string;
  @CustomerId() customerId!: string;
  @Uuid('The request of a clip', optional) videoRequestId?: string;
  @Text("The partner's id of the request", optional) partnerRequestId?: string;
}

/** One view of a recording, in `manifest.json`. */
export class BundledView {
  @Uuid('Id of the recording') recordingId!: string;
  @Time('When') at!: string;
  @Text('What was done, as in the action log', example('recording.viewed')) action!: string;
  @Text('Who, as the action log names them', example('console')) actor!: string;
  @Text('Name or e-mail address of a person', optional) person?: string;
  @Text('Address from which a shared link was opened', optional) address?: string;
}

const BUNDLE_HEADERS = {
  'Content-Disposition': { description: 'The name of the file', schema: { type: 'string' as const, maxLength: 255 } },
};

/** Footage that a case needs. */
export const HOLD_ROUTES = {
  createHold: create(FOR_OPERATORS, '/holds', CreateHold, HoldDetails, {
    summary: 'Hold the footage of a truck',
    description:
      'Keeps every recording that overlaps the range by any part, of one camera or of all, also those that are listed later, until the hold is released. `missing` names the time of which nothing is held. A truck that the connection does not know is refused.',
  }),
  listHolds: list(FOR_VIEWERS, '/holds', Hold, HoldQuery, {
    summary: 'List holds',
    description: 'Newest first, released ones included. `from` and `to` are times of the footage.',
  }),
  getHold: one(FOR_VIEWERS, '/holds/{id}', 'hold', HoldDetails, {
    summary: 'Read a hold',
    description: 'With what it holds at this moment, and what is missing.',
  }),
  releaseHold: change(FOR_OPERATORS_OF_ALL, 'POST', '/holds/{id}/release', 'hold', {
    summary: 'Release a hold',
    description:
      'Its footage follows the retention of the hauler again, from the next hour on. The hold stays in the list, with who released it, when and why.',
    body: ReleaseHold,
    response: ReleasedHold,
    fails: { conflict: 'It is released already' },
  }),
  getHoldBundle: route({ role: 'viewer+video', isPerHauler: true }, 'GET', '/holds/{id}/bundle', {
    summary: 'Download all that a hold keeps',
    description:
      'A ZIP archive, made while it is sent: the files, `manifest.json` with their sources, sums and views, and `SHA256SUMS` for `sha256sum -c`. A file that is gone or differs has a `problem` in the manifest. Where the storage fails, the connection breaks: an archive without an end is not whole.',
    params: IdParam,
    query: HoldBundleQuery,
    archive: 'application/zip',
    returns: 'The archive',
    responseHeaders: BUNDLE_HEADERS,
    fails: {
      notFound: 'No hold has this id',
      conflict: `The range has more than ${MAX_BUNDLE_RECORDINGS} recordings: get it in parts, with \`endsAfter\` and \`startsBefore\``,
    },
  }),
} as const satisfies AdminRoutes;
