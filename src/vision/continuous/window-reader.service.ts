import { Injectable } from '@nestjs/common';
import { instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { WorkService } from '../../work/work.service.js';
import { VisionFindings } from '../client/findings.repository.js';
import { readAllPages } from '../client/read-pages.js';
import { DOWNLOAD, type VisionConnection } from '../client/vision-connections.repository.js';
import { VisionClient } from '../client/vision.client.js';
import { storeCameraNames } from '../recordings/camera-names.repository.js';
import { RecordingsRepository } from '../recordings/recordings.repository.js';
import { type SubscribedCamera, SubscriptionsRepository } from './subscriptions.repository.js';
import type { Window } from './windows.rules.js';

/** Reads one window of a partner's continuous recordings. */
@Injectable()
export class WindowReader {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly client: VisionClient,
    private readonly recordings: RecordingsRepository,
    private readonly findings: VisionFindings,
    private readonly work: WorkService,
  ) {}

  /**
   * Stores the recordings of a window page by page, and returns whether the pages agree with each other. Pages before a
   * failure stay. Throws `PartnerFailure`, `UnstableListError`.
   */
  async read(
    connection: VisionConnection,
    { truck_id: truckId, camera_id: cameraId }: SubscribedCamera,
    { start, end }: Window,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { haulerId, id: connectionId, customerId } = connection;
    const query = {
      // From the connection, because an admin may have changed it since the subscription was created.
      customerId,
      truckId,
      ...(cameraId === null ? {} : { cameraId }),
      startTime: instantOf(new Date(start)),
      endTime: instantOf(new Date(end)),
      pageSize: MAX_PAGE_SIZE,
    };
    return readAllPages<Recording>(
      (page) => this.client.listContinuous({ ...query, page }, { connection, signal }),
      async ({ items, findings }) => {
        const added = await this.subscriptions.inTransaction(async (manager) => {
          if (cameraId !== null) {
            await storeCameraNames(manager, { haulerId, connectionId, truckId, cameraId }, items);
          }
          return this.recordings.addChunks(manager, connection, items);
        });
        await this.findings.record(connection, findings);
        if (added > 0) this.work.runDue(DOWNLOAD);
      },
    );
  }
}
