import { Injectable, Logger } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { apiError } from '../../core/errors/app-error.js';
import { NotStoredError } from '../../core/storage/storage-errors.js';
import { WorkService } from '../../core/work/work.service.js';
import { DOWNLOAD } from '../client/vision-connections.repository.js';
import { type ContentOptions, Recordings } from '../recordings/recordings.service.js';
import { DownloadRetryRepository } from './download-retry.repository.js';

/** The bytes of a recording. A file that the storage has lost is fetched again, if the partner still lists the recording. */
@Injectable()
export class RecordingContent {
  private readonly logger = new Logger(RecordingContent.name);

  constructor(
    private readonly recordings: Recordings,
    private readonly retries: DownloadRetryRepository,
    private readonly work: WorkService,
  ) {}

  /** 404 if the recording is not stored, or its file is gone. A storage that is away is no lost file: 503. */
  async send(id: string, request: Request, response: Response, options: ContentOptions): Promise<void> {
    try {
      await this.recordings.sendContent(id, request, response, options);
    } catch (error) {
      if (!(error instanceof NotStoredError)) throw error;
      if (await this.fetchAgain(id)) this.fetchDue();
      throw apiError(
        ADMIN_API,
        'notFound',
        `the file of the recording ${id} is gone from the video storage; it is fetched again if the partner still lists it`,
        { cause: error },
      );
    }
  }

  /** A stored recording waits for its file again. Returns false if it is not stored any more. */
  async fetchAgain(id: string): Promise<boolean> {
    const isLost = await this.retries.refetch(id);
    if (isLost) this.logger.error(`recording ${id}: its file is gone from the video storage; it is fetched again`);
    return isLost;
  }

  fetchDue(): void {
    this.work.runDue(DOWNLOAD);
  }
}
