import { Injectable } from '@nestjs/common';
import { type Instant, instantOf } from '../../contracts/common/instant.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { readWhole } from '../client/read-pages.js';
import { PartsStore } from '../requests/parts.store.js';
import { VisionClient } from '../vision.client.js';
import { isSameCamera, mayBeSameCamera } from '../spelling.js';
import type { VisionConnection } from '../vision-connections.js';
import type { RecordingRow } from './recording-row.js';

const PAGE_SIZE = 100;

/** Asks the partner for a new link to a recording, by listing it again (decision 47). */
@Injectable()
export class Relink {
  constructor(
    private readonly client: VisionClient,
    private readonly parts: PartsStore,
  ) {}

  /** The recording as it is listed now; undefined where it is no more. Throws `PartnerFailure`, `UnstableList`. */
  async find(row: RecordingRow, connection: VisionConnection, signal: AbortSignal): Promise<Recording | undefined> {
    const call = { connection, signal };
    const range = { startTime: instantOf(row.start_time), endTime: instantAfter(row.end_time) };
    const query = { customerId: row.customer_id, truckId: row.truck_id, ...range, pageSize: PAGE_SIZE };
    const requestId = await this.requestId(row);
    const found: { same?: Recording; maybe?: Recording } = {};
    try {
      await readWhole<Recording>(
        async (page) =>
          row.source === 'continuous'
            ? (await this.client.listContinuous({ ...query, page }, call)).read
            : (
                await this.client.listVideos(
                  {
                    customerId: row.customer_id,
                    ...(requestId === null ? query : { requestId }),
                    page,
                    pageSize: PAGE_SIZE,
                  },
                  call,
                )
              ).read,
        async ({ items }) => {
          const same = items.filter((item) => isSame(row, item));
          found.same = same.find(({ cameraId }) => isSameCamera(cameraId, row.camera_id)) ?? found.same;
          found.maybe = same.find(({ cameraId }) => mayBeSameCamera(cameraId, row.camera_id)) ?? found.maybe;
        },
      );
    } catch (error) {
      if (error instanceof PartnerFailure && error.status === 404) return undefined;
      // The list may shift as it likes once the recording was seen in it.
      if (found.same === undefined) throw error;
    }
    return found.same ?? found.maybe;
  }

  private async requestId({ part_id, hauler_id }: RecordingRow): Promise<string | null> {
    return part_id === null ? null : (await this.parts.find(hauler_id, part_id)).partnerRequestId;
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
