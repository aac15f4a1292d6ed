import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { principalOf } from '../../auth/hosted-call.js';
import type { AuthenticatedRequest } from '../../auth/principal.js';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { formatInstant, secondsBetween } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { isUuid } from '../../contracts/common/text.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import type {
  ContinuousQuery,
  ContinuousResponse,
  CreateVideoRequest,
  CreateVideoResponse,
  ListVideosQuery,
  ListVideosResponse,
  Recording,
  Video,
} from '../../contracts/vision/vision.dto.js';
import { apiError } from '../../errors/app-error.js';
import { HostedCameras, type TruckCamera } from './cameras.js';
import { type Film, type FilmKind, findFilm, listFilms } from './film-tables.js';
import { DownloadLinks, type LinkBase } from './links.js';
import { assertClipRange, assertOrder } from './range-rules.js';
import { HostedVideoRequests } from './video-requests.store.js';

/** The reference partner's side of Vision (sections 4.4 to 4.6). */
@Injectable()
export class HostedVisionApi {
  constructor(
    private readonly dataSource: DataSource,
    private readonly cameras: HostedCameras,
    private readonly requests: HostedVideoRequests,
    private readonly links: DownloadLinks,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  async requestVideo(request: CreateVideoRequest, call: AuthenticatedRequest): Promise<CreateVideoResponse> {
    assertClipRange(request, this.env.VISION_MAX_CLIP_MINUTES);
    assertCustomer(request.customerId, call);
    await this.cameras.known(request);
    const requestId = await this.requests.add(request);
    return { success: true, requestId, status: 'processing', message: 'The recordings are being looked for' };
  }

  /** On-demand clips only (decision 44); with a `requestId` also its state (decision 40). */
  async listVideos(query: ListVideosQuery, call: AuthenticatedRequest): Promise<ListVideosResponse> {
    const { cameras, base } = await this.admitted(query, call);
    if (query.requestId !== undefined) return this.listByRequest(query, query.requestId, cameras, base);
    const { rows, pagination } = await this.page('clips', query, cameras);
    return { success: true, data: { videos: rows.map((film) => this.video(film, base)), pagination } };
  }

  async listContinuous(query: ContinuousQuery, call: AuthenticatedRequest): Promise<ContinuousResponse> {
    const { cameras, base } = await this.admitted(query, call);
    const { rows, pagination } = await this.page('recordings', query, cameras);
    const recordings = rows.map((film) => this.recording(film, 'recordings', base));
    return { success: true, data: { recordings, pagination } };
  }

  private async admitted(query: ListVideosQuery | ContinuousQuery, call: AuthenticatedRequest) {
    assertOrder(query.startTime, query.endTime);
    assertCustomer(query.customerId, call);
    return { cameras: await this.cameras.known(query), base: this.links.baseOf(call) };
  }

  private async page(kind: FilmKind, query: ListVideosQuery | ContinuousQuery, cameras: readonly TruckCamera[]) {
    const { customerId, truckId, cameraId, startTime, endTime } = query;
    const wanted = { customerId, truckId, cameras: cameraId === undefined ? undefined : cameras, startTime, endTime };
    const page = pageRequest(query);
    const { rows, total } = await listFilms(this.dataSource, kind, wanted, page);
    return { rows, pagination: paginationOf(page, total) };
  }

  /** An unknown request, and one of another customer, is an empty list without a state (decision 44). */
  private async listByRequest(
    query: ListVideosQuery,
    requestId: string,
    cameras: readonly TruckCamera[],
    base: LinkBase,
  ) {
    const page = pageRequest(query);
    const asked = isUuid(requestId) ? await this.requests.find(requestId) : undefined;
    const request = asked !== undefined && matches(asked, query, cameras) ? asked : undefined;
    const film = request === undefined ? undefined : await findFilm(this.dataSource, 'clips', 'request_id', request.id);
    const found = film !== undefined && overlaps(film, query) ? [film] : [];
    const state = request && {
      requestId: request.id,
      status: request.status,
      ...(request.message === undefined ? {} : { message: request.message }),
    };
    return {
      success: true,
      data: {
        videos: found.slice(page.offset, page.offset + page.pageSize).map((each) => this.video(each, base)),
        pagination: paginationOf(page, found.length),
        ...(state === undefined ? {} : { request: state }),
      },
    };
  }

  private video(film: Film, base: LinkBase): Video {
    return {
      ...this.recording(film, 'clips', base),
      ...(film.requestId === undefined ? {} : { requestId: film.requestId }),
    };
  }

  private recording(film: Film, kind: FilmKind, base: LinkBase): Recording {
    const { id, customerId, truckId, cameraId, startTime, endTime } = film;
    return {
      id,
      customerId,
      truckId,
      cameraId,
      startTime: formatInstant(startTime),
      endTime: formatInstant(endTime),
      durationSeconds: secondsBetween(startTime, endTime),
      ...this.links.sign(base, kind, id),
    };
  }
}

/** A key that is limited to a customer knows no other (decision 17). */
function assertCustomer(customerId: string, call: AuthenticatedRequest): void {
  const { customerId: limit } = principalOf(call);
  if (limit === null || limit === customerId) return;
  throw apiError(VISION_API, 'notFound', 'the customer is unknown: check customerId');
}

function matches(
  request: { readonly customerId: string; readonly truckId: string; readonly cameraId: string },
  query: ListVideosQuery,
  cameras: readonly TruckCamera[],
): boolean {
  if (request.customerId !== query.customerId) return false;
  if (query.truckId !== undefined && request.truckId !== query.truckId) return false;
  const { truckId, cameraId } = request;
  return query.cameraId === undefined || cameras.some((one) => one.truckId === truckId && one.cameraId === cameraId);
}

function overlaps(film: Film, { startTime, endTime }: ListVideosQuery): boolean {
  return (endTime === undefined || film.startTime < endTime) && (startTime === undefined || film.endTime > startTime);
}
