import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { whoOf } from '../auth/action-log.interceptor.js';
import { ActionLog } from '../auth/action-log.repository.js';
import { PREVIEW_BYTES, type RecordingContentQuery } from '../contracts/admin/recordings.routes.js';
import { RecordingContent } from '../vision/downloads/recording-content.service.js';

/** The video that callers of the admin API see. It is in the action log before it is sent, or it is refused with 503. */
@Injectable()
export class ShownRecordings {
  constructor(
    private readonly contents: RecordingContent,
    private readonly actions: ActionLog,
  ) {}

  /** A token has no player: what it gets is a file. A preview is no view (decision 72). */
  send(id: string, query: RecordingContentQuery, request: Request, response: Response): Promise<void> {
    const isFile = query.download === true;
    const isPreview = !isFile && query.preview !== undefined && query.preview !== 'false';
    if (isPreview) return this.contents.send(id, request, response, { endsBytes: PREVIEW_BYTES });
    const isDownload = isFile || request.headers.authorization !== undefined;
    const action = isDownload ? 'recording.downloaded' : 'recording.viewed';
    const resource = `recording:${id.toLowerCase()}`;
    return this.contents.send(id, request, response, {
      isFile,
      beforeShown: () => this.actions.requireView({ ...whoOf(request), action, resource }),
    });
  }
}
