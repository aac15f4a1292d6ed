import { Injectable } from '@nestjs/common';
import { type Instant, instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { ListedPage } from '../client/read-list.rules.js';
import { readAllPages } from '../client/read-pages.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import { isSameCamera, mayBeAliases } from '../recordings/camera-names.rules.js';
import { type VisionCall, VisionClient } from '../client/vision.client.js';
import { VisionConnections } from '../client/vision-connections.service.js';
import type { RecordingRow } from './download.repository.js';

/** Gets a new link to a recording by listing it again (decision 47). */
@Injectable()
export class RelinkService {
  constructor(
    private readonly client: VisionClient,
    private readonly connections: VisionConnections,
    private readonly parts: ClipsRepository,
  ) {}

  /** Returns the recording as it is listed now, or the reason why there is no link. Throws `PartnerFailure`, `UnstableListError`. */
  async find(row: RecordingRow, signal: AbortSignal): Promise<Recording | string> {
    const connection = await this.connections.find(row.connection_id);
    if (connection === undefined) return 'The link expired, and the connection was deleted.';
    const listed = await this.listed(row, { connection, signal });
    return (
      listed ?? 'The link expired before the file could be fetched, and the partner no longer lists the recording.'
    );
  }

  /** The recording under its own camera's name, or else under a possible alias of it. */
  private async listed(row: RecordingRow, call: VisionCall): Promise<Recording | undefined> {
    const page = await this.pagesOf(row, call);
    let same: Recording | undefined;
    let alias: Recording | undefined;
    try {
      await readAllPages<Recording>(page, async ({ items }) => {
        const found = items.filter((item) => isSame(row, item));
        same = found.find(({ cameraId }) => isSameCamera(cameraId, row.camera_id)) ?? same;
        alias = found.find(({ cameraId }) => mayBeAliases(cameraId, row.camera_id)) ?? alias;
      });
    } catch (error) {
      // A failure after the recording was found does not matter.
      const isFound = (same ?? alias) !== undefined;
      if (!isFound && !(error instanceof PartnerFailure && error.status === 404)) throw error;
    }
    return same ?? alias;
  }

  /** Repeats the request that listed the recording: some partners list a customer under several names. */
  private async pagesOf(
    row: RecordingRow,
    call: VisionCall,
  ): Promise<(page: number) => Promise<ListedPage<Recording>>> {
    const range = { startTime: instantOf(row.start_time), endTime: instantAfter(row.end_time) };
    const around = { truckId: row.truck_id, ...range, pageSize: MAX_PAGE_SIZE };
    if (row.part_id === null) {
      const { customerId } = call.connection;
      return (page) => this.client.listContinuous({ customerId, ...around, page }, call);
    }
    const { customerId, partnerRequestId: requestId } = await this.parts.findPart(row.hauler_id, row.part_id);
    const query = requestId === null ? around : { requestId, pageSize: MAX_PAGE_SIZE };
    return (page) => this.client.listVideos({ customerId, ...query, page }, call);
  }
}

/** A listed time has microseconds, and a `Date` has not. */
const instantAfter = (date: Date): Instant => instantOf(new Date(date.getTime() + 1));

function isSame(row: RecordingRow, { id, truckId, cameraId, startTime, endTime }: Recording): boolean {
  const starts = Date.parse(startTime);
  const ends = Date.parse(endTime);
  if (truckId !== row.truck_id) return false;
  if (id === row.partner_recording_id) return starts < row.end_time.getTime() && ends > row.start_time.getTime();
  return cameraId === row.camera_id && starts === row.start_time.getTime() && ends === row.end_time.getTime();
}
