import { Injectable } from '@nestjs/common';
import { instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Changes } from '../../core/work/run.js';
import { readAllPages } from '../client/read-pages.js';
import { type VisionCall, VisionClient } from '../client/vision.client.js';
import { VisionConnections } from '../client/vision-connections.repository.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import { WindowReader } from '../continuous/window-reader.service.js';
import type { Span } from '../range.js';
import { isNameOf, isSameCamera, type NamePair } from '../recordings/camera-names.rules.js';
import { fetchBy } from '../recordings/recording.rules.js';
import { DownloadRepository, type RecordingRow } from './download.repository.js';
import { RelinkRepository } from './relink.repository.js';

/** Gets a new link to a recording by listing it again (decision 47). */
@Injectable()
export class RelinkService {
  /** The readings that run, by connection and truck. They never reject. */
  private readonly readings = new Map<string, Promise<unknown>>();

  constructor(
    private readonly client: VisionClient,
    private readonly reader: WindowReader,
    private readonly connections: VisionConnections,
    private readonly parts: ClipsRepository,
    private readonly recordings: DownloadRepository,
    private readonly links: RelinkRepository,
  ) {}

  /** Returns what changes in the row that has a link now, or the reason why there is none. Throws `PartnerFailure`, `UnstableListError`. */
  async find(row: RecordingRow, signal: AbortSignal): Promise<Changes | string> {
    const connection = await this.connections.find(row.connection_id);
    if (connection === undefined) return 'The link expired, and the connection was deleted.';
    const call = { connection, signal };
    return row.part_id === null ? this.ofChunk(row, call) : this.ofClip(row, row.part_id, call);
  }

  /** Links often expire together: one reading gives all waiting chunks of the truck their new links. */
  private async ofChunk(row: RecordingRow, call: VisionCall): Promise<Changes | string> {
    await this.readings.get(truckOf(row));
    if (await this.links.hasLink(row)) return {};
    const reading = this.read(row, call).finally(() => this.readings.delete(truckOf(row)));
    this.readings.set(truckOf(row), reading);
    const failure = await reading;
    return (await this.links.hasLink(row)) ? {} : notListed(failure);
  }

  /** Returns the error that ended the reading early. Links before it are written. */
  private async read(row: RecordingRow, call: VisionCall): Promise<unknown> {
    try {
      const window = await this.links.waitingRange(row);
      // A partner that ignores the range lists far more than what is needed.
      const write = (items: readonly Recording[]) =>
        this.links.writeLinks(
          call.connection,
          items.filter((item) => mayBeIn(window, item)),
        );
      await this.reader.list(call, { truckId: row.truck_id }, window, write);
      return undefined;
    } catch (failure) {
      return failure;
    }
  }

  /** Repeats the request that listed the clip: some partners list a customer under several names. */
  private async ofClip(row: RecordingRow, partId: string, call: VisionCall): Promise<Changes | string> {
    const items: Recording[] = [];
    const { customerId, partnerRequestId: requestId } = await this.parts.findPart(row.hauler_id, partId);
    const around = {
      truckId: row.truck_id,
      startTime: instantOf(row.start_time),
      // Rounded up, because a listed time has microseconds and a `Date` has milliseconds.
      endTime: instantOf(new Date(row.end_time.getTime() + 1)),
    };
    const query = { customerId, ...(requestId === null ? around : { requestId }), pageSize: MAX_PAGE_SIZE };
    const keep = (listed: readonly Recording[]) => void items.push(...listed.filter((item) => isSame(row, item)));
    const failure = await readAllPages(
      (page) => this.client.listVideos({ ...query, page }, call, keep),
      async () => undefined,
    ).then(
      () => undefined,
      (error: unknown) => error,
    );
    const found = recordingIn(items, row, await this.recordings.cameraNames(row));
    // A failure after the recording was found does not matter.
    if (found === undefined) return notListed(failure);
    return {
      link: found.downloadUrl,
      expires_at: found.expiresAt ?? null,
      fetch_by: fetchBy(found.expiresAt, Date.now()),
      relinks: row.relinks + 1,
    };
  }
}

const truckOf = ({ connection_id, truck_id }: RecordingRow): string => `${connection_id} ${truck_id}`;

/** A 404 means that the partner has nothing of the truck. */
function notListed(failure: unknown): string {
  if (failure !== undefined && !(failure instanceof PartnerFailure && failure.status === 404)) throw failure as Error;
  return 'The link expired before the file could be fetched, and the partner no longer lists the recording.';
}

const mayBeIn = ({ start, end }: Span, { startTime, endTime }: Recording): boolean =>
  Date.parse(startTime) <= end && Date.parse(endTime) >= start;

/** The recording under its own camera's name, or else under another known name of it. */
const recordingIn = (items: readonly Recording[], row: RecordingRow, names: readonly NamePair[]) =>
  items.findLast(({ cameraId }) => isSameCamera(cameraId, row.camera_id)) ??
  items.findLast(({ cameraId }) => isNameOf(row.camera_id, cameraId, names));

function isSame(row: RecordingRow, { id, truckId, cameraId, startTime, endTime }: Recording): boolean {
  const starts = Date.parse(startTime);
  const ends = Date.parse(endTime);
  if (truckId !== row.truck_id) return false;
  if (id === row.partner_recording_id) return starts < row.end_time.getTime() && ends > row.start_time.getTime();
  return cameraId === row.camera_id && starts === row.start_time.getTime() && ends === row.end_time.getTime();
}
