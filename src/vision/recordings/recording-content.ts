import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { sendFile } from '../../http/send-file.js';
import { STORAGE, type Storage } from '../../storage/storage.js';
import { recordingFile } from './recording-files.js';
import { RecordingQueries } from './recording.queries.js';

/** The bytes of stored recordings. */
@Injectable()
export class RecordingContent {
  constructor(
    private readonly recordings: RecordingQueries,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  async send(id: string, request: Request, response: Response): Promise<void> {
    const { size, sha256 } = await this.recordings.file(id);
    await sendFile(request, response, {
      size,
      etag: `"${sha256}"`,
      contentType: 'video/mp4',
      open: (range) => this.storage.read(recordingFile(id), range),
    });
  }
}
