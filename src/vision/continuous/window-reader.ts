import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { inTransaction } from '../../database/transaction.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { keepCameraNames } from '../camera-names.store.js';
import { readWhole } from '../client/read-pages.js';
import { RecordingStore } from '../downloads/recording.store.js';
import { DOWNLOADS } from '../downloads/recording-row.js';
import { VisionFindings } from '../findings.js';
import { VisionClient } from '../vision.client.js';
import type { VisionConnection } from '../vision-connections.js';
import type { Window } from './windows.js';

/** Whose recordings are read. */
export interface Watched {
  readonly truck_id: string;
  readonly camera_id: string | null;
}

/** Reads one window of a truck's continuous recordings, and takes in what is new. */
@Injectable()
export class WindowReader {
  constructor(
    private readonly dataSource: DataSource,
    private readonly client: VisionClient,
    private readonly recordings: RecordingStore,
    private readonly findings: VisionFindings,
    private readonly jobs: JobsService,
  ) {}

  /** Resolves when the whole window was read. What came before a failure stays. Throws `PartnerFailure`, `UnstableList`. */
  async read(
    connection: VisionConnection,
    watched: Watched,
    { start, end }: Window,
    signal: AbortSignal,
  ): Promise<void> {
    const query = {
      // As the connection says now: an admin may have mended it.
      customerId: connection.customerId,
      truckId: watched.truck_id,
      ...(watched.camera_id === null ? {} : { cameraId: watched.camera_id }),
      startTime: instantOf(new Date(start)),
      endTime: instantOf(new Date(end)),
      pageSize: MAX_PAGE_SIZE,
    };
    await readWhole<Recording>(
      (page) => this.client.listContinuous({ ...query, page }, { connection, signal }),
      async ({ items, findings }) => {
        const added = await inTransaction(this.dataSource, async (manager) => {
          if (watched.camera_id !== null) {
            const asked = { truckId: watched.truck_id, cameraId: watched.camera_id };
            await keepCameraNames(
              manager,
              { ...asked, haulerId: connection.haulerId, connectionId: connection.id },
              items,
            );
          }
          return this.recordings.addChunks(manager, connection, items);
        });
        await this.findings.record(connection, findings);
        if (added > 0) this.jobs.wake(DOWNLOADS);
      },
    );
  }
}
