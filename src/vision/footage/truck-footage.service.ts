import { Injectable } from '@nestjs/common';
import type { CoverageInterval } from '../../contracts/admin/coverage.routes.js';
import type { StoredRecording } from '../../contracts/admin/recordings.routes.js';
import type { VideoRequest } from '../../contracts/admin/video-requests.routes.js';
import { instantOf } from '../../contracts/common/instant.js';
import { VideoRequests } from '../clips/video-requests.service.js';
import type { CoveredCamera } from '../coverage/coverage.repository.js';
import { CoveragePieces } from '../coverage/coverage-pieces.service.js';
import { CoverageService } from '../coverage/coverage.service.js';
import type { Span } from '../range.js';
import { Recordings } from '../recordings/recordings.service.js';
import type { TruckKey } from '../truck.js';
import { FootageRepository, type RequestedClipRow } from './footage.repository.js';
import { clipsToRequest, type FootageSpan, missingSpans } from './missing-clips.rules.js';

/** Some times of a truck, oldest first, at least one. */
export interface FootageQuery extends TruckKey {
  /** Empty: all that are known. */
  readonly cameras: readonly string[];
  readonly spans: readonly FootageSpan[];
}

export interface Footage {
  readonly coverage: CoverageInterval[];
  readonly recordings: StoredRecording[];
  readonly requests: VideoRequest[];
}

/** What is missing of one camera in one time. */
interface MissingFootage {
  readonly camera: CoveredCamera;
  readonly span: FootageSpan;
  readonly missing: readonly Span[];
}

/** The footage of a truck in a few short times: coverage, recordings and clip requests; and the request for what is missing. */
@Injectable()
export class TruckFootage {
  constructor(
    private readonly footage: FootageRepository,
    private readonly pieces: CoveragePieces,
    private readonly coverage: CoverageService,
    private readonly recordings: Recordings,
    private readonly requests: VideoRequests,
  ) {}

  knowsTruck(truck: TruckKey): Promise<boolean> {
    return this.footage.knowsTruck(truck);
  }

  /** Whether a camera of the truck can be named in a request. */
  async hasCamera(query: FootageQuery): Promise<boolean> {
    return (await this.camerasOf(query)).some(({ name }) => name !== undefined);
  }

  async read(query: FootageQuery): Promise<Footage> {
    const cameras = await this.camerasOf(query);
    const names = namesIn(query, cameras);
    const coverage: CoverageInterval[] = [];
    for (const span of query.spans) {
      for (const camera of cameras) coverage.push(...(await this.intervals(query, camera, span)));
    }
    const recordingIds = await this.footage.recordingIds(query, query.spans, names);
    const recordings = await this.recordings.find(recordingIds);
    const requestIds = await this.footage.requestIds(query, query.spans, names);
    return { coverage, recordings: recordings.reverse(), requests: await this.requests.find(requestIds) };
  }

  /** Requests the clips of all that is missing, and returns all requests of these times. */
  async requestMissing(query: FootageQuery, by: string): Promise<VideoRequest[]> {
    const cameras = await this.camerasOf(query);
    const missing: MissingFootage[] = [];
    for (const span of query.spans) {
      for (const camera of cameras) {
        const spans = missingSpans(await this.intervals(query, camera, span));
        if (spans.length > 0) missing.push({ camera, span, missing: spans });
      }
    }
    const all = { start: query.spans[0]?.start ?? 0, end: query.spans.at(-1)?.end ?? 0 };
    if (missing.length > 0) {
      await this.requests.orderAll(query, by, async (transaction) => {
        const requested = await this.footage.lockRequested(transaction, query, all);
        return missing.flatMap((each) => clipsOf(each, requested));
      });
    }
    return this.requests.find(await this.footage.requestIds(query, query.spans, namesIn(query, cameras)));
  }

  /** Of all times together: a camera that recorded at one weighing should have recorded at the other. */
  private async camerasOf({ connectionId, truckId, cameras, spans }: FootageQuery): Promise<readonly CoveredCamera[]> {
    const [from, to] = [spans[0]?.start ?? 0, spans.at(-1)?.end ?? 0].map((time) => instantOf(new Date(time)));
    const range = { connectionId, truckId, from: from ?? '', to: to ?? '' };
    if (cameras.length === 0) return this.pieces.cameras(range);
    return (await Promise.all(cameras.map((camera) => this.pieces.cameras(range, camera)))).flat();
  }

  private async intervals({ connectionId, truckId }: FootageQuery, { name }: CoveredCamera, { start, end }: Span) {
    const { data } = await this.coverage.of({
      connectionId,
      truckId,
      ...(name === undefined ? {} : { cameraId: name }),
      from: instantOf(new Date(start)),
      to: instantOf(new Date(end)),
    });
    return data as CoverageInterval[];
  }
}

/** Every name of the cameras that the setting names; null for all cameras. */
const namesIn = ({ cameras }: FootageQuery, found: readonly CoveredCamera[]): string[] | null =>
  cameras.length === 0 ? null : found.flatMap(({ names }) => names);

function clipsOf({ camera, span, missing }: MissingFootage, rows: readonly RequestedClipRow[]) {
  const { name, names } = camera;
  if (name === undefined) return [];
  const requested = rows
    .filter(({ camera_id }) => names.includes(camera_id))
    .map(({ start_time, end_time, is_open }) => {
      return { start: start_time.getTime(), end: end_time.getTime(), isOpen: is_open };
    });
  return clipsToRequest(span, missing, requested).map(({ start, end }) => ({
    cameraId: name,
    startTime: instantOf(new Date(start)),
    endTime: instantOf(new Date(end)),
  }));
}
