import { Integer, Name, Nested, OneOf, Text, TextList, Time, Uuid } from '../common/fields/decorators.js';
import { example, inQuery, max, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { CreateVideoRequest, VIDEO_STATUSES, type VideoStatus } from '../vision/vision.dto.js';
import { ListQuery } from './list.dto.js';
import { HAULER, HaulerId } from './fields.js';

/** Size limit of an uploaded recording. */
export const HOSTED_RECORDING_MAX_BYTES = 2 * 1024 ** 3;

export class RecordedCamera {
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
export const HOSTED_SITE_DATA_MAX_BYTES = 32 * 1024 * 1024;

/** The hauler in the path of `PUT /admin/v1/hosted/haulers/{haulerId}/site-data`. */
export class HostedHaulerParam {
  @Uuid('The hauler whose data is replaced; any id', example(HAULER)) haulerId!: string;
}

/** What callers would no longer receive. */
export class HostedSiteDataRemoval {
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
