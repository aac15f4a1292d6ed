import { Injectable } from '@nestjs/common';
import { epochMillis, instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { ContinuousQuery, Recording } from '../../contracts/vision/vision.api.js';
import { PartitionPlanner } from '../../core/database/partition-planner.js';
import { PARTITIONED } from '../../core/database/partitions.rules.js';
import { WorkService } from '../../core/work/work.service.js';
import { VisionFindings } from '../client/findings.repository.js';
import { readAllPages } from '../client/read-pages.js';
import { DOWNLOAD, type VisionConnection } from '../client/vision-connections.repository.js';
import { sizeFindings, type VisionCall, VisionClient } from '../client/vision.client.js';
import { storeCameraNames } from '../recordings/camera-names.repository.js';
import { RecordingsRepository } from '../recordings/recordings.repository.js';
import { SubscriptionsRepository } from './subscriptions.repository.js';
import type { Span } from '../range.js';

/** Reads one window of a partner's continuous recordings. */
@Injectable()
export class WindowReader {
  constructor(
    private readonly subscriptions: SubscriptionsRepository,
    private readonly client: VisionClient,
    private readonly recordings: RecordingsRepository,
    private readonly findings: VisionFindings,
    private readonly work: WorkService,
    private readonly partitions: PartitionPlanner,
  ) {}

  /**
   * Stores the recordings of a window part by part, and returns whether the pages agree with each other. Parts before a
   * failure stay. Throws `PartnerFailure`, `UnstableListError`.
   */
  async read(
    connection: VisionConnection,
    { truck_id: truckId, camera_id: cameraId }: { readonly truck_id: string; readonly camera_id: string | null },
    window: Span,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { haulerId, id: connectionId } = connection;
    const store = async (items: readonly Recording[]): Promise<void> => {
      await this.partitions.ensure(
        PARTITIONED.recordings,
        items.map((item) => epochMillis(item.startTime)),
      );
      const added = await this.subscriptions.inTransaction(async (transaction) => {
        if (cameraId !== null) {
          await storeCameraNames(transaction, { haulerId, connectionId, truckId, cameraId }, items);
        }
        return this.recordings.addChunks(transaction, connection, items);
      });
      if (added > 0) this.work.runDue(DOWNLOAD);
    };
    const camera = { truckId, ...(cameraId === null ? {} : { cameraId }) };
    return this.list({ connection, signal }, camera, window, store);
  }

  /** As `read`, with another use of the recordings. */
  async list(
    call: VisionCall,
    camera: Pick<ContinuousQuery, 'truckId' | 'cameraId'>,
    { start, end }: Span,
    onItems: (items: readonly Recording[]) => void | Promise<void>,
  ): Promise<boolean> {
    const { connection } = call;
    const query = {
      // From the connection, because an admin may have changed it since the subscription was created.
      customerId: connection.customerId,
      ...camera,
      startTime: instantOf(new Date(start)),
      endTime: instantOf(new Date(end)),
      pageSize: MAX_PAGE_SIZE,
    };
    try {
      return await readAllPages(
        (page) => this.client.listContinuous({ ...query, page }, call, onItems),
        ({ findings }) => this.findings.record(connection, findings),
      );
    } catch (error) {
      await this.findings.record(connection, sizeFindings(error));
      throw error;
    }
  }
}
