import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type Instant, instantOf } from '../../contracts/common/instant.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Recording } from '../../contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { ListedPage } from '../client/read-list.rules.js';
import { readAllPages } from '../client/read-pages.js';
import { ClipsRepository } from '../clips/clips.repository.js';
import { isNameOf, isSameCamera, type NamePair } from '../recordings/camera-names.rules.js';
import { type VisionCall, VisionClient } from '../client/vision.client.js';
import { VisionConnections } from '../client/vision-connections.repository.js';
import { DownloadRepository, type RecordingRow } from './download.repository.js';
import { relinkDelayMs } from './download.rules.js';

/** How old a listing may be for the first new link of a recording. */
const MAX_AGE_MS = 30_000;
/** Of all kept listings together; an element has about 1 KiB. */
const MAX_KEPT_ELEMENTS = 30_000;

interface Range {
  readonly start: Date;
  readonly end: Date;
}

interface Listing {
  /** Undefined: all clips of a request. */
  readonly range: Range | undefined;
  readonly items: readonly Recording[];
  /** The error that ended the listing early. */
  readonly failure: unknown;
}

interface SharedListing {
  readonly startedAt: number;
  readonly size: number;
  readonly done: Promise<Listing>;
}

/**
 * Gets a new link to a recording by listing it again (decision 47). Links often expire together, so one listing
 * covers all waiting recordings of the truck.
 */
@Injectable()
export class RelinkService {
  private readonly listings = new LRUCache<string, SharedListing>({
    maxSize: MAX_KEPT_ELEMENTS,
    sizeCalculation: ({ size }) => size,
    ttl: MAX_AGE_MS,
  });

  constructor(
    private readonly client: VisionClient,
    private readonly connections: VisionConnections,
    private readonly parts: ClipsRepository,
    private readonly recordings: DownloadRepository,
  ) {}

  /** Returns the recording as it is listed now, or the reason why there is no link. Throws `PartnerFailure`, `UnstableListError`. */
  async find(row: RecordingRow, signal: AbortSignal): Promise<Recording | string> {
    const connection = await this.connections.find(row.connection_id);
    if (connection === undefined) return 'The link expired, and the connection was deleted.';
    const names = await this.recordings.cameraNames(row);
    const shared = await this.sharedListing(row);
    const kept = shared && recordingIn(shared, row, names);
    if (kept !== undefined) return kept;
    const listing = await this.begin(row, { connection, signal });
    const found = recordingIn(listing, row, names);
    // A failure after the recording was found does not matter.
    if (found !== undefined) return found;
    const { failure } = listing;
    if (failure !== undefined && !(failure instanceof PartnerFailure && failure.status === 404)) throw failure as Error;
    return 'The link expired before the file could be fetched, and the partner no longer lists the recording.';
  }

  /** A running listing, or one that is newer than the last link of the recording. */
  private async sharedListing(row: RecordingRow): Promise<Listing | undefined> {
    const shared = this.listings.get(listingName(row));
    const maxAgeMs = row.relinks === 0 ? MAX_AGE_MS : Math.min(MAX_AGE_MS, relinkDelayMs(row.relinks));
    if (shared === undefined || performance.now() - shared.startedAt > maxAgeMs) return undefined;
    const listing = await shared.done;
    return listing.failure === undefined && covers(listing, row) ? listing : undefined;
  }

  private async begin(row: RecordingRow, call: VisionCall): Promise<Listing> {
    const name = listingName(row);
    const startedAt = performance.now();
    const done = this.list(row, call);
    this.listings.set(name, { startedAt, size: 1, done });
    const listing = await done;
    this.listings.delete(name);
    if (listing.failure === undefined) this.listings.set(name, { startedAt, size: listing.items.length + 1, done });
    return listing;
  }

  /** Never rejects. */
  private async list(row: RecordingRow, call: VisionCall): Promise<Listing> {
    const items: Recording[] = [];
    let range: Range | undefined;
    try {
      if (row.part_id === null) range = await this.recordings.waitingRange(row);
      // The list of a clip serves this row alone, and a partner may list all that it has.
      const isWanted = (item: Recording) => (row.part_id === null ? mayBeIn(range, item) : isSame(row, item));
      const onItems = (listed: readonly Recording[]) => void items.push(...listed.filter(isWanted));
      await readAllPages(await this.pagesOf(row, range, call, onItems), async () => undefined);
      return { range, items, failure: undefined };
    } catch (failure) {
      return { range, items, failure };
    }
  }

  /** Repeats the request that listed the recording: some partners list a customer under several names. */
  private async pagesOf(
    row: RecordingRow,
    { start, end }: Range = { start: row.start_time, end: row.end_time },
    call: VisionCall,
    onItems: (items: readonly Recording[]) => void,
  ): Promise<(page: number) => Promise<ListedPage>> {
    const around = {
      truckId: row.truck_id,
      startTime: instantOf(start),
      endTime: instantAfter(end),
      pageSize: MAX_PAGE_SIZE,
    };
    if (row.part_id === null) {
      const { customerId } = call.connection;
      return (page) => this.client.listContinuous({ customerId, ...around, page }, call, onItems);
    }
    const { customerId, partnerRequestId: requestId } = await this.parts.findPart(row.hauler_id, row.part_id);
    const query = requestId === null ? around : { requestId, pageSize: MAX_PAGE_SIZE };
    return (page) => this.client.listVideos({ customerId, ...query, page }, call, onItems);
  }
}

const listingName = ({ connection_id, truck_id, part_id, id }: RecordingRow): string =>
  part_id === null ? `${connection_id} ${truck_id}` : `${part_id} ${id}`;

/** A partner that ignores the range lists far more than what is needed. */
const mayBeIn = (range: Range | undefined, { startTime, endTime }: Recording): boolean =>
  range === undefined || (Date.parse(startTime) <= range.end.getTime() && Date.parse(endTime) >= range.start.getTime());

const covers = ({ range }: Listing, { start_time, end_time }: RecordingRow): boolean =>
  range === undefined || (range.start <= start_time && range.end >= end_time);

/** The recording under its own camera's name, or else under another known name of it. */
function recordingIn({ items }: Listing, row: RecordingRow, names: readonly NamePair[]): Recording | undefined {
  const found = items.filter((item) => isSame(row, item));
  return (
    found.findLast(({ cameraId }) => isSameCamera(cameraId, row.camera_id)) ??
    found.findLast(({ cameraId }) => isNameOf(row.camera_id, cameraId, names))
  );
}

/** Rounded up, because a listed time has microseconds and a `Date` has milliseconds. */
const instantAfter = (date: Date): Instant => instantOf(new Date(date.getTime() + 1));

function isSame(row: RecordingRow, { id, truckId, cameraId, startTime, endTime }: Recording): boolean {
  const starts = Date.parse(startTime);
  const ends = Date.parse(endTime);
  if (truckId !== row.truck_id) return false;
  if (id === row.partner_recording_id) return starts < row.end_time.getTime() && ends > row.start_time.getTime();
  return cameraId === row.camera_id && starts === row.start_time.getTime() && ends === row.end_time.getTime();
}
