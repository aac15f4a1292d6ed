import {
  Flag,
  Integer,
  Nested,
  OneOf,
  Period,
  Text,
  TextList,
  Time,
  type TimeRange,
  Uuid,
} from '../common/fields/decorators.js';
import { example, inQuery, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { RECORDING_SOURCES, RECORDING_STATUSES, type RecordingSource, type RecordingStatus } from './footage.values.js';
import { IdParam, ListQuery } from './list.dto.js';
import { AnyCameraId, CameraId, ConnectionId, CustomerId, HaulerId, TruckId } from './fields.js';
import { type AdminRoutes, change, FOR_OPERATORS, FOR_VIEWERS, list, one, route } from './route-helpers.js';
import { VisionFinding, VisionFindingQuery } from './vision-finding.dto.js';

/** Retention has deleted the file. */
export const FILE_REMOVED = 'fileRemoved';

/** Why a download ended. A final state has a way back: a new listing, or `retry`. */
export const ENDINGS = [
  'notListed',
  'linkRefused',
  'unreachable',
  'invalidFile',
  'addressRefused',
  'tooLarge',
  'interrupted',
] as const;
export type RecordingReason = (typeof ENDINGS)[number];

/** The filters that the partner of a connection has too. */
export class RecordingFilters extends ListQuery {
  @TruckId(optional) truckId?: string;
  @AnyCameraId(optional) cameraId?: string;
  @OneOf('On-demand clip or continuous recording', RECORDING_SOURCES, optional) source?: RecordingSource;
  @OneOf('State', RECORDING_STATUSES, optional) status?: RecordingStatus;
  @Time('Recordings that start at this time or later', inQuery, optional) from?: Instant;
  @Time('Recordings that start before this time', inQuery, optional) to?: Instant;
  @Period(
    'Recordings that share some time with this one: two times with a comma between, the end excluded. `from` and `to` ask for their start',
    optional,
  )
  overlaps?: TimeRange;
}

export class RecordingQuery extends RecordingFilters {
  @Uuid('Recordings of this hauler only', optional) haulerId?: string;
  @ConnectionId(optional) connectionId?: string;
}

/** A preview has this much of the begin and of the end of a file: enough for a first picture (decision 72). */
export const PREVIEW_BYTES = 512 * 1_024;

export class RecordingContentQuery {
  @Flag('Send it as a file to save', inQuery, optional) download?: boolean;

  @OneOf(
    'Send the first and last 512 KiB alone, for a picture; the name `preview` is enough. It is no view',
    ['true', 'false', ''],
    optional,
  )
  preview?: 'true' | 'false' | '';
}

export class StoredRecording {
  @Uuid('Id of the recording') id!: string;
  @HaulerId() haulerId!: string;
  @ConnectionId() connectionId!: string;
  @OneOf('On-demand clip or continuous recording', RECORDING_SOURCES, example('continuous')) source!: RecordingSource;
  @Text("The partner's id of the recording", example('chunk-4711')) partnerRecordingId!: string;
  @CustomerId() customerId!: string;
  @TruckId() truckId!: string;
  @CameraId() cameraId!: string;
  @Time('Start of the recorded time') startTime!: string;
  @Time('End of the recorded time') endTime!: string;
  @Integer('Length in seconds', example(300)) durationSeconds!: number;
  @OneOf('State', RECORDING_STATUSES, example('stored')) status!: RecordingStatus;
  @Text('Reason for the state', optional) reason?: string;
  @OneOf(
    'Reason of a final state as a code: the partner no longer lists it; its link was refused; its host was not reached; its file was no whole MP4; the address may not be called; the file is too large; the process ended at each try; `fileRemoved` after the retention of the hauler',
    [...ENDINGS, FILE_REMOVED],
    optional,
  )
  reasonCode?: RecordingReason | typeof FILE_REMOVED;
  @Time('When its download link expires', optional) expiresAt?: string;
  @Integer('Bytes', optional, example(5_242_880)) sizeBytes?: number;
  @Text('SHA-256 of the bytes, hexadecimal', optional) sha256?: string;
  @Time('When it was first listed') createdAt!: string;
  @Time('When its state last changed') updatedAt!: string;
}

/** A recording as an admin sees it: a partner does not learn of holds. */
export class AdminRecording extends StoredRecording {
  @TextList('Active holds that keep it, by their ids', example([])) holdIds!: string[];
}

/** What is stored of the way of its file. */
export class RecordingLife {
  @Integer('Attempts to download it that have not stored it, a running one included; 0 once it is stored', example(1))
  attempts!: number;
  @Time('When it is tried next; absent if nothing waits', optional) dueAt?: string;
  @Time('Since when it is being downloaded', optional) startedAt?: string;
  @Time('When its file was stored, also of one that retention has deleted', optional) storedAt?: string;
  @Time('When retention deleted its file', optional) deletedAt?: string;
}

/** One recording with its way so far. */
export class RecordingDetails extends AdminRecording {
  @Nested('Its file: listed, tried, stored, deleted', RecordingLife) life!: RecordingLife;
}

/** Which recordings are fetched again: those that failed or expired, unless retention deleted their files. */
export class RetryRecordings {
  @ConnectionId() connectionId!: string;
  @TruckId(optional) truckId?: string;
  @Time('Recordings that start at this time or later', optional, example('2026-01-31T08:00:00Z')) from?: Instant;
  @Time('Recordings that start before this time', optional, example('2026-02-01T08:00:00Z')) to?: Instant;
  @OneOf('Recordings that ended for this reason', ENDINGS, optional, example('linkRefused')) reason?: RecordingReason;
}

export class RetriedRecordings {
  @Integer('Recordings that are fetched again', example(12)) matched!: number;
}

/** Recordings, their files, and the errors in partners' lists. */
export const RECORDING_ROUTES = {
  listRecordings: list(FOR_VIEWERS, '/recordings', AdminRecording, RecordingQuery, {
    summary: 'List recordings',
    description: 'Latest start first.',
    csv: true,
  }),
  getRecording: one(FOR_VIEWERS, '/recordings/{id}', 'recording', RecordingDetails, {
    summary: 'Read a recording',
    description: 'By its id.',
  }),
  retryRecording: change(FOR_OPERATORS, 'POST', '/recordings/{id}/retry', 'recording', {
    summary: 'Fetch a recording again',
    description:
      'Of a recording that failed or expired; one that waits is tried at once. The partner lists it again for a new link.',
    response: StoredRecording,
    status: 202,
    fails: { conflict: 'It is stored, or retention has deleted its file' },
  }),
  retryRecordings: route(FOR_OPERATORS, 'POST', '/recordings/retry', {
    summary: 'Fetch recordings of a connection again',
    description:
      'All that failed or expired, of a truck, a time or a reason. Files that retention has deleted stay deleted.',
    body: RetryRecordings,
    response: RetriedRecordings,
    status: 202,
    returns: 'How many',
  }),
  getRecordingContent: route({ role: 'viewer+video', isPerHauler: true }, 'GET', '/recordings/{id}/content', {
    summary: 'Download a recording',
    description:
      'The whole file, or the part that `Range` names. It is an action: `recording.viewed` of a console session, `recording.downloaded` with `download` or of a token. 503 while that cannot be stored. A `preview` has the first and last 512 KiB alone, and is no action: without `Range` the first of a longer file (206), and 416 for a range that begins in between.',
    params: IdParam,
    query: RecordingContentQuery,
    file: 'video/mp4',
    returns: 'The file',
    fails: { notFound: 'No recording has this id, or its file is not stored' },
  }),
  listVisionFindings: list(FOR_VIEWERS, '/vision-findings', VisionFinding, VisionFindingQuery, {
    summary: "List the errors in partners' video lists",
    description:
      'By the time they were first seen, newest first. The service skipped the listed elements and stored the others.',
    csv: true,
  }),
} as const satisfies AdminRoutes;
