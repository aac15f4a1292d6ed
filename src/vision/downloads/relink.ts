import { Injectable } from '@nestjs/common';
import { type Instant, instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { ListedPage } from '../client/read-list.js';
import { readWhole } from '../client/read-pages.js';
import { PartsStore } from '../requests/parts.store.js';
import { isSameCamera, mayBeAliases } from '../spelling.js';
import { type VisionCall, VisionClient } from '../vision.client.js';
import { VisionConnections } from '../vision-connections.js';
import type { RecordingRow } from './recording-row.js';

/** Asks the partner that a recording came from for a new link to it, by listing it again (decision 47). */
@Injectable()
export class Relink {
  constructor(
    private readonly client: VisionClient,
    private readonly connections: VisionConnections,
    private readonly parts: PartsStore,
  ) {}

  /**
   * The recording as it is listed now, or the reason why there will be no link any more. Throws `PartnerFailure`,
   * `UnstableList`.
   */
  async find(row: RecordingRow, signal: AbortSignal): Promise<Recording | string> {
    const connection = await this.connections.find(row.connection_id);
    if (connection === undefined) return 'The link died, and the connection was deleted meanwhile.';
    const listed = await this.listed(row, { connection, signal });
    return listed ?? 'The link died before the file could be fetched, and the partner lists the recording no more.';
  }

  /** Under its own camera's name rather than under what may be another name of it. */
  private async listed(row: RecordingRow, call: VisionCall): Promise<Recording | undefined> {
    const page = await this.pagesOf(row, call);
    let same: Recording | undefined;
    let maybe: Recording | undefined;
    try {
      await readWhole<Recording>(page, async ({ items }) => {
        const found = items.filter((item) => isSame(row, item));
        same = found.find(({ cameraId }) => isSameCamera(cameraId, row.camera_id)) ?? same;
        maybe = found.find(({ cameraId }) => mayBeAliases(cameraId, row.camera_id)) ?? maybe;
      });
    } catch (error) {
      // Once the recording was seen in it the list may shift or break off as it likes.
      const seen = same ?? maybe;
      if (seen === undefined && !(error instanceof PartnerFailure && error.status === 404)) throw error;
    }
    return same ?? maybe;
  }

  /** The list in which the recording was found, asked for as it was then: partners list customers by other names too. */
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
    const { customerId, partnerRequestId: requestId } = await this.parts.find(row.hauler_id, row.part_id);
    const query = requestId === null ? around : { requestId, pageSize: MAX_PAGE_SIZE };
    return (page) => this.client.listVideos({ customerId, ...query, page }, call);
  }
}

/** A listed time has microseconds, which the row's dates have lost. */
const instantAfter = (date: Date): Instant => instantOf(new Date(date.getTime() + 1));

function isSame(row: RecordingRow, { id, truckId, cameraId, startTime, endTime }: Recording): boolean {
  const starts = Date.parse(startTime);
  const ends = Date.parse(endTime);
  if (truckId !== row.truck_id) return false;
  if (id === row.partner_recording_id) return starts < row.end_time.getTime() && ends > row.start_time.getTime();
  return cameraId === row.camera_id && starts === row.start_time.getTime() && ends === row.end_time.getTime();
}
