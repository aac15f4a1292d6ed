import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { RetriedRecordings, RetryRecordings, StoredRecording } from '../../contracts/admin/recordings.routes.js';
import type { VideoRequest } from '../../contracts/admin/video-requests.routes.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { WorkService } from '../../core/work/work.service.js';
import {
  DOWNLOAD,
  POLL_CLIPS,
  SUBMIT_CLIPS,
  unknownConnection,
  VisionConnections,
} from '../client/vision-connections.repository.js';
import { VideoRequests } from '../clips/video-requests.service.js';
import { Recordings } from '../recordings/recordings.service.js';
import { DownloadRetryRepository } from './download-retry.repository.js';

/** The way back from a final state, for an admin, and for a partner of a recording of its own connection (decision 54). */
@Injectable()
export class DownloadRetry {
  constructor(
    private readonly recordings: Recordings,
    private readonly connections: VisionConnections,
    private readonly retries: DownloadRetryRepository,
    private readonly work: WorkService,
    private readonly requests: VideoRequests,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VISION_REQUEST_DEADLINE'>,
  ) {}

  /** 409 if the recording is stored, or if retention has deleted its file. */
  async retry(id: string, connectionId?: string): Promise<StoredRecording> {
    const { status } = await this.recordings.get(id, connectionId);
    if (!(await this.retries.retry(id))) {
      throw apiError(ADMIN_API, 'conflict', `the recording ${id} cannot be fetched again: it is ${status}`);
    }
    this.work.runDue(DOWNLOAD);
    return this.recordings.get(id);
  }

  /** Tries the parts again that have no file yet. 409 if there is none. */
  async retryRequest(id: string): Promise<VideoRequest> {
    const { haulerId, status } = await this.requests.get(id);
    if (!(await this.retries.retryRequest(haulerId, id, this.env.VISION_REQUEST_DEADLINE))) {
      throw apiError(ADMIN_API, 'conflict', `the video request ${id} cannot be tried again: it is ${status}`);
    }
    for (const kind of [SUBMIT_CLIPS, POLL_CLIPS, DOWNLOAD]) this.work.runDue(kind);
    return this.requests.get(id);
  }

  async retryAll(filter: RetryRecordings): Promise<RetriedRecordings> {
    if ((await this.connections.find(filter.connectionId)) === undefined) {
      throw invalid([unknownConnection()]);
    }
    const matched = await this.retries.retryAll(filter);
    this.work.runDue(DOWNLOAD);
    return { matched };
  }
}
