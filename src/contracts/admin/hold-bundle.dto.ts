import { Decimal, Integer, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { CameraId, ConnectionId, CustomerId, HaulerId, TruckId } from './fields.js';

/** A bundle of more is asked for in parts: its list is in memory until the last file is sent. */
export const MAX_BUNDLE_RECORDINGS = 20_000;

export class HoldBundleQuery {
  @Time('Only recordings that end after this time, for a part of a large hold', inQuery, optional) endsAfter?: Instant;
  @Time('Only recordings that start before this time', inQuery, optional) startsBefore?: Instant;
}

export const BUNDLE_PROBLEM_KINDS = ['gone', 'differs'] as const;
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
