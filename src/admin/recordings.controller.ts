import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { RecordingContentQuery, RecordingQuery, RetryRecordings } from '../contracts/admin/recordings.routes.js';
import { RetentionRequest } from '../contracts/admin/storage.routes.js';
import { VisionFindingQuery } from '../contracts/admin/vision-finding.dto.js';
import { listAnswer } from '../core/http/list-answer.js';
import { JsonBody } from '../core/http/json-body.js';
import { longWork } from '../core/http/answer.js';
import { VisionFindings } from '../vision/client/findings.repository.js';
import { Holds } from '../vision/holds/holds.service.js';
import { DownloadRetry } from '../vision/downloads/download-retry.service.js';
import { Recordings } from '../vision/recordings/recordings.service.js';
import { Retention } from '../vision/retention/retention.job.js';
import { ShownRecordings } from './shown-recordings.service.js';

/** Recordings of the platform side, and the errors in partners' lists. */
@Controller()
export class RecordingsController {
  constructor(
    private readonly recordings: Recordings,
    private readonly findings: VisionFindings,
    private readonly retention: Retention,
    private readonly retries: DownloadRetry,
    private readonly shown: ShownRecordings,
    private readonly holds: Holds,
  ) {}

  @Route(ADMIN_API, 'listRecordings')
  list(@Query() query: RecordingQuery, @Req() request: Request) {
    return listAnswer(request, query, async (part) => {
      const { data, pagination } = await this.recordings.list(part);
      return { data: await this.holds.marked(data), pagination };
    });
  }

  @Route(ADMIN_API, 'getRecording')
  async get(@Param() { id }: IdParam) {
    return this.holds.markedOne(await this.recordings.details(id));
  }

  @Route(ADMIN_API, 'retryRecording')
  retry(@Param() { id }: IdParam) {
    return this.retries.retry(id);
  }

  @Route(ADMIN_API, 'retryRecordings')
  retryAll(@JsonBody() filter: RetryRecordings) {
    return this.retries.retryAll(filter);
  }

  @Route(ADMIN_API, 'getRecordingContent')
  content(
    @Param() { id }: IdParam,
    @Query() query: RecordingContentQuery,
    @Req() request: Request,
    @Res() response: Response,
  ) {
    return this.shown.send(id, query, request, response);
  }

  @Route(ADMIN_API, 'listVisionFindings')
  listFindings(@Query() query: VisionFindingQuery, @Req() request: Request) {
    return listAnswer(request, query, (part) => this.findings.list(part));
  }

  @Route(ADMIN_API, 'runRetention')
  runRetention(@JsonBody() { dryRun }: RetentionRequest, @Res({ passthrough: true }) response: Response) {
    return longWork(response, () => (dryRun === true ? this.retention.preview() : this.retention.run()));
  }
}
