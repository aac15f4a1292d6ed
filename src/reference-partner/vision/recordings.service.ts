import { Inject, Injectable } from '@nestjs/common';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import {
  HOSTED_RECORDING_MAX_BYTES,
  type HostedRecording,
  type HostedRecordingQuery,
} from '../../contracts/admin/hosted.routes.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import { Database } from '../../core/database/database.js';
import { beginsAsMp4, MP4_HEAD_BYTES } from '../../core/media/mp4-start.js';
import { isDatabaseUnavailable, isUniqueViolation } from '../../core/database/postgres-errors.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { errorCode } from '../../core/storage/storage-errors.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { whileAnnounced } from '../../core/storage/inventory.repository.js';
import { ReferenceCameras } from './cameras.repository.js';
import { hasRecordingAt, insertRecording, MAX_RECORDING_MS, videoFileName } from './stored-videos.repository.js';

/** The continuous recordings of the trucks: listed as chunks, and the source of clips. */
@Injectable()
export class ReferenceRecordings {
  constructor(
    private readonly database: Database,
    private readonly cameras: ReferenceCameras,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {}

  /**
   * Stores one chunk while it is uploaded; an interrupted upload leaves nothing behind. Throws `conflict` if the camera
   * already has a recording with this start.
   */
  async add(query: HostedRecordingQuery, body: AsyncIterable<Buffer>): Promise<HostedRecording> {
    assertRange(query);
    const cameraId = await this.cameras.idOf(query.customerId, query.truckId, query.cameraId);
    const camera = { ...query, cameraId };
    if (await hasRecordingAt(this.database, camera)) throw startConflict(camera);
    const id = uuidv7();
    const name = videoFileName('recordings', id);
    return whileAnnounced(this.database, name, () => this.store(id, query, body)).catch((error: unknown) => {
      throw isUniqueViolation(error, 'reference_recordings_start_key') ? startConflict(camera) : error;
    });
  }

  private async store(id: string, query: HostedRecordingQuery, body: AsyncIterable<Buffer>): Promise<HostedRecording> {
    const name = videoFileName('recordings', id);
    const stored = await this.storage.store(name, checked(body)).catch((error: unknown) => {
      throw errorCode(error) === 'ECONNRESET'
        ? apiError(ADMIN_API, 'invalid', 'the upload was interrupted: send the complete file again', { cause: error })
        : error;
    });
    try {
      await this.database.transaction(async (transaction) => {
        // Look up the camera again: the name may have moved to another camera during the upload.
        const cameraId = await this.cameras.findOrAdd(transaction, query);
        await insertRecording(transaction, id, { ...query, cameraId }, stored);
      });
    } catch (error) {
      // The commit may have succeeded, and a row must have its file. `storage check` reports a file without a row.
      if (!isDatabaseUnavailable(error)) await this.storage.delete(name);
      throw error;
    }
    return { id, sizeBytes: stored.size, sha256: stored.sha256 };
  }
}

function assertRange({ startTime, endTime }: HostedRecordingQuery): void {
  const length = epochMillis(endTime) - epochMillis(startTime);
  if (endTime > startTime && length <= MAX_RECORDING_MS) return;
  const message = 'endTime must be after startTime, and at most 24 hours later';
  throw invalid([{ path: 'endTime', rule: 'isRange', message }]);
}

function startConflict({ cameraId, startTime }: HostedRecordingQuery) {
  const start = formatInstant(startTime);
  return apiError(ADMIN_API, 'conflict', `camera ${cameraId} already has a recording that starts at ${start}`);
}

/** Checks the first bytes before any are stored, and the size while they arrive. */
async function* checked(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head = Buffer.alloc(0);
  let isMp4 = false;
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > HOSTED_RECORDING_MAX_BYTES) {
      throw apiError(ADMIN_API, 'tooLarge', 'a recording must not be larger than 2 GiB');
    }
    if (isMp4) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < MP4_HEAD_BYTES) continue;
      assertMp4(head);
      isMp4 = true;
      yield head;
    }
  }
  if (!isMp4) assertMp4(head);
}

function assertMp4(head: Buffer): void {
  if (beginsAsMp4(head)) return;
  const message = 'the body must be an MP4 file: it has to begin with a box of it, such as ftyp';
  throw invalid([{ path: '', rule: 'isMp4', message }]);
}
