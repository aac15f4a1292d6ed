import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import {
  type RecordingDetails,
  RecordingLife,
  type RecordingQuery,
  StoredRecording,
} from '../../contracts/admin/recordings.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { present } from '../../contracts/common/present.js';
import { Database } from '../../core/database/database.js';
import { apiError } from '../../core/errors/app-error.js';
import { type FileToSend, sendFile } from '../../core/http/send-file.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { otherNamesOf } from './camera-names.repository.js';
import { recordingFile } from './recording.rules.js';
import {
  type AdminRecordingRow,
  countStoredByHour,
  findRecordings,
  recordingPage,
} from './recording-list.repository.js';

/** The recordings in the admin API, with their files. */
@Injectable()
export class Recordings {
  constructor(
    private readonly database: Database,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  /** The latest start first. The camera filter accepts any name by which the partner knows the camera. */
  async list(query: RecordingQuery): Promise<List<StoredRecording>> {
    const { cameraId } = query;
    const others = cameraId === undefined ? [] : await otherNamesOf(this.database, cameraId, query);
    const { rows, pagination } = await recordingPage(this.database, query, others);
    return { data: await this.find(rows.map(({ id }) => id)), pagination };
  }

  /** With a connection only a recording of it. */
  async get(id: string, connectionId?: string): Promise<StoredRecording> {
    return present(StoredRecording, await this.row(id, connectionId));
  }

  /** With its way so far. */
  async details(id: string): Promise<Omit<RecordingDetails, 'holdIds'>> {
    const row = await this.row(id);
    return { ...present(StoredRecording, row), life: present(RecordingLife, row) };
  }

  /** The latest start first. */
  async find(ids: readonly string[]): Promise<StoredRecording[]> {
    return (await findRecordings(this.database, ids)).map((row) => present(StoredRecording, row));
  }

  /** Sends the bytes, or the requested range of them, with further headers. 404 where the recording or its file does not exist. */
  async sendContent(
    id: string,
    request: Request,
    response: Response,
    { headers, isFile = false, ...options }: ContentOptions = {},
  ): Promise<void> {
    const row = await this.row(id);
    const { status, size_bytes: size, sha256 } = row;
    if (status !== 'stored' || size === null || sha256 === null) {
      throw apiError(ADMIN_API, 'notFound', `the recording ${id} is not stored, it is ${status}`);
    }
    await sendFile(request, response, {
      size: Number(size),
      etag: `"${sha256}"`,
      contentType: 'video/mp4',
      headers: { ...(isFile ? { 'Content-Disposition': `attachment; filename="${fileName(row)}"` } : {}), ...headers },
      ...options,
      open: (range) => this.storage.read(recordingFile(id), range),
    });
  }

  private async row(id: string, connectionId?: string): Promise<AdminRecordingRow> {
    const [row] = await findRecordings(this.database, [id]);
    if (row === undefined || (connectionId ?? row.connection_id) !== row.connection_id)
      throw apiError(ADMIN_API, 'notFound', `there is no recording ${id}`);
    return row;
  }
}

export interface ContentOptions extends Pick<FileToSend, 'headers' | 'beforeShown' | 'endsBytes'> {
  /** The caller saves it. */
  readonly isFile?: boolean;
}

/** `TRUCK-7-front-2026-01-31T08-30-00Z.mp4` */
function fileName({ truck_id: truck, camera_id: camera, start_time: start }: AdminRecordingRow): string {
  return `${[truck, camera, formatInstant(start)]
    .join('-')
    .replace(/[^\w-]+/g, '-')
    .slice(0, 150)}.mp4`;
}

/** Stored recordings by the hour of their download. */
@Injectable()
export class StoredHours {
  constructor(private readonly database: Database) {}

  /** The number of each hour from `from` on that has any, by its start in milliseconds since the epoch. */
  async counts(from: Date): Promise<ReadonlyMap<number, number>> {
    const rows = await countStoredByHour(this.database, from);
    return new Map(rows.map(({ hour, count }) => [hour.getTime(), count]));
  }
}
