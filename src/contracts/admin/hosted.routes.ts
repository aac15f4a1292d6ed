import { Integer, Name, Nested, OneOf, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, max, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { CreateVideoRequest, VIDEO_STATUSES, type VideoStatus } from '../vision/vision.api.js';
import { ListQuery } from './list.dto.js';
import { DryRunQuery, HAULER, HaulerId } from './fields.js';
import { SiteData } from '../site/site.api.js';
import { type AdminRoutes, FOR_ADMINS_OF_ALL, FOR_VIEWERS_OF_ALL, list, route } from './route-helpers.js';

/** Size limit of an uploaded recording. */
export const HOSTED_RECORDING_MAX_BYTES = 2 * 1024 ** 3;

class RecordedCamera {
  @Name('Customer identifier or name', max(255), example(HAULER)) customerId!: string;
  @Name('Truck identifier', max(255), example('TRUCK-7')) truckId!: string;
  @Name('Camera, by any of its aliases', max(255), example('front')) cameraId!: string;
}

/** The camera and the time of an uploaded recording. */
export class HostedRecordingQuery extends RecordedCamera {
  @Time('Start of the recording', inQuery) startTime!: Instant;
  @Time('End of the recording, at most 24 hours later', inQuery, example('2026-01-31T08:31:00Z')) endTime!: Instant;
}

export class HostedRecording {
  @Uuid('Identifier of the chunk') id!: string;
  @Integer('Size in bytes', example(91205)) sizeBytes!: number;
  @Text('SHA-256 of the bytes, in hex', example('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'))
  sha256!: string;
}

/** A camera of a truck with its aliases (decision 45). */
export class HostedCamera extends RecordedCamera {
  @Name('Name in responses', max(255), example('front')) declare cameraId: string;
  @TextList('Aliases of the camera', max(100), { maxLength: 255 }, example(['1'])) aliases!: string[];
}

export class HostedVideoRequestQuery extends ListQuery {
  @OneOf('Requests in this state only', VIDEO_STATUSES, optional) status?: VideoStatus;
}

/** A video request of a caller, with its state. */
export class HostedVideoRequest extends CreateVideoRequest {
  @Uuid('The `requestId` of the response') id!: string;
  @OneOf('State', VIDEO_STATUSES, example('ready')) status!: VideoStatus;
  @Text('Explanation of the state', optional, example('Nothing was recorded in this time')) message?: string;
  @Integer('Attempts to prepare the clip so far; 0 after a success', example(0)) attempts!: number;
  @Text('Why the last attempt failed, for an admin: partners receive `message`', optional) lastError?: string;
  @Time('When it was requested') createdAt!: Instant;
  @Time('When it became ready or failed', optional) finishedAt?: Instant;
}

/** About 150,000 materials. HTTP_BODY_LIMIT does not apply, because one body replaces all data of a hauler. */
const HOSTED_SITE_DATA_MAX_BYTES = 32 * 1024 * 1024;

/** The hauler in the path of `PUT /admin/v1/hosted/haulers/{haulerId}/site-data`. */
export class HostedHaulerParam {
  @Uuid('The hauler whose data is replaced; any id', example(HAULER)) haulerId!: string;
}

/** What callers would no longer receive. */
class HostedSiteDataRemoval {
  @Integer('Sites', example(1)) sites!: number;
  @Integer('Kiosks', example(1)) kiosks!: number;
  @Integer('Materials, each counted once a site and kiosk', example(4)) materials!: number;
}

/** The number of a hauler's records on the partner side, inactive ones included. */
export class HostedSiteDataCounts {
  @HaulerId() haulerId!: string;
  @Integer('Sites', example(2)) sites!: number;
  @Integer('Kiosks', example(3)) kiosks!: number;
  @Integer('Materials', example(12)) materials!: number;
  @Integer('Active records, which callers receive', example(16)) active!: number;
  @Nested('Of a dry run alone: listed records that would no longer be listed', HostedSiteDataRemoval, optional)
  preview?: HostedSiteDataRemoval;
}

/** Data of the reference partner. */
export const HOSTED_ROUTES = {
  replaceHostedSiteData: route(FOR_ADMINS_OF_ALL, 'PUT', '/hosted/haulers/{haulerId}/site-data', {
    summary: "Replace a hauler's data on the partner side",
    description:
      'Replaces all of it: a record that is not in the body is deleted, and an empty body makes the hauler unknown. Invalid records, repeated ids and unknown parents are refused with at most 10,000 violations, and nothing changes. Send `dryRun` first: its `preview` has the records that callers would no longer receive. Up to 32 MB: about 150,000 materials.',
    params: HostedHaulerParam,
    query: DryRunQuery,
    response: HostedSiteDataCounts,
    upload: { contentType: 'application/json', maxBytes: HOSTED_SITE_DATA_MAX_BYTES, schema: SiteData },
    returns: 'The number of stored records',
  }),
  setHostedCamera: route(FOR_ADMINS_OF_ALL, 'PUT', '/hosted/cameras', {
    summary: 'Set the aliases of a camera on the partner side',
    description:
      'Replaces its aliases. Recordings under an alias become recordings of this camera; 409, and nothing changes, if two recordings would start at the same time.',
    body: HostedCamera,
    response: HostedCamera,
    fails: { conflict: 'Two recordings would start at the same time; nothing changes' },
  }),
  uploadHostedRecording: route(FOR_ADMINS_OF_ALL, 'POST', '/hosted/recordings', {
    summary: 'Upload a recording to the partner side',
    description: 'An MP4 file of up to 2 GiB, streamed.',
    query: HostedRecordingQuery,
    response: HostedRecording,
    upload: { contentType: 'video/mp4', maxBytes: HOSTED_RECORDING_MAX_BYTES },
    status: 201,
    returns: 'The stored recording',
    fails: {
      requestTimeout: 'The upload paused for too long',
      conflict: 'The camera has a recording that starts at this time',
      tooLarge: 'The file is larger than 2 GiB',
      unsupportedMediaType: 'The body is not `video/mp4`, or has a content coding',
    },
  }),
  listHostedVideoRequests: list(
    FOR_VIEWERS_OF_ALL,
    '/hosted/video-requests',
    HostedVideoRequest,
    HostedVideoRequestQuery,
    { summary: 'List the video requests that callers made to the partner side', description: 'Newest first.' },
  ),
} as const satisfies AdminRoutes;
