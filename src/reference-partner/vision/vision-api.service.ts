import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/caller.js';
import type { DtoClass } from '../../contracts/common/fields/field.js';
import { type PageRequest, pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { present } from '../../contracts/common/present.js';
import { isUuid } from '../../contracts/common/text.js';
import type { InjectedScenario } from '../../contracts/sandbox/scenarios.js';
import {
  type ContinuousQuery,
  type ContinuousResponse,
  type CreateVideoRequest,
  type CreateVideoResponse,
  type ListVideosQuery,
  type ListVideosResponse,
  Recording,
  Video,
  type VideoList,
  VISION_API,
} from '../../contracts/vision/vision.api.js';
import { Database } from '../../core/database/database.js';
import { apiError } from '../../core/errors/app-error.js';
import type { Call } from '../../core/http/call.js';
import { PartnerClock } from '../sandbox/partner-clock.js';
import { clipScenario, VisionScenarios } from '../sandbox/vision-scenarios.service.js';
import { ReferenceCameras, type ReferenceCamera } from './cameras.repository.js';
import { listVideos, type VideoKind, type VideoRow } from './stored-videos.repository.js';
import { DownloadLinks } from './download-links.js';
import { assertOrder, ReferenceVideoRequests } from './video-requests.service.js';

/** The properties that all links of one list share. */
interface Links {
  readonly origin: string;
  readonly now: number;
  readonly scenario: InjectedScenario | undefined;
}

/** The Vision API of the reference partner (sections 4.4 to 4.6). */
@Injectable()
export class ReferenceVisionApi {
  constructor(
    private readonly database: Database,
    private readonly cameras: ReferenceCameras,
    private readonly requests: ReferenceVideoRequests,
    private readonly links: DownloadLinks,
    private readonly scenarios: VisionScenarios,
    private readonly clock: PartnerClock,
  ) {}

  async requestVideo(request: CreateVideoRequest, { call }: Request): Promise<CreateVideoResponse> {
    this.requests.assertRange(request);
    assertCustomer(request.customerId, call);
    const sourceTruckId = await this.scenarios.sourceTruck(request.customerId, request.truckId);
    await this.cameras.known(request);
    const requestId = await this.requests.add(request, clipScenario(call.scenario, sourceTruckId));
    return { success: true, requestId, status: 'processing', message: 'The clip is being prepared' };
  }

  /** Lists on-demand clips only (decision 44); with a `requestId` also the state of the request (decision 40). */
  async listVideos(query: ListVideosQuery, request: Request): Promise<ListVideosResponse> {
    const { cameras, links } = await this.resolve(query, request);
    const data = await (query.requestId === undefined
      ? this.listClips(query, cameras, links)
      : this.listByRequest(query, query.requestId, cameras, links));
    const videos = await this.scenarios.changeElements(request.call.scenario, data.videos);
    await this.scenarios.show(request, data.videos, data.request?.requestId);
    return { success: true, data: { ...data, videos } };
  }

  async listContinuous(query: ContinuousQuery, request: Request): Promise<ContinuousResponse> {
    const { cameras, links, sourceTruckId = query.truckId } = await this.resolve(query, request);
    const { rows, pagination } = await this.page('recordings', { ...query, truckId: sourceTruckId }, cameras, links);
    const chunks = rows.map((video) =>
      this.element(Recording, { ...video, truck_id: query.truckId }, 'recordings', links),
    );
    const recordings = await this.scenarios.changeElements(request.call.scenario, chunks);
    await this.scenarios.show(request, chunks);
    return { success: true, data: { recordings, pagination } };
  }

  /** Checks the query, and resolves its cameras. */
  private async resolve(query: ListVideosQuery | ContinuousQuery, request: Request) {
    const { scenario } = request.call;
    assertOrder(query.startTime, query.endTime);
    assertCustomer(query.customerId, request.call);
    const sourceTruckId = await this.scenarios.sourceTruck(query.customerId, query.truckId);
    const cameras = await this.cameras.known(query);
    const now = await this.clock.now(query.customerId);
    return { cameras, sourceTruckId, links: { now, scenario, origin: this.links.originOf(request) } };
  }

  private async page(
    kind: VideoKind,
    query: ListVideosQuery | ContinuousQuery,
    cameras: readonly ReferenceCamera[],
    { scenario }: Links,
    requestId?: string,
  ) {
    const wanted = { ...query, cameras: query.cameraId === undefined ? undefined : cameras, requestId };
    const page = pageRequest(query);
    const { rows, total } = await listVideos(this.database, kind, wanted, shifted(page, scenario?.name));
    return { rows, pagination: paginationOf(page, shownTotal(total, scenario)) };
  }

  private async listClips(
    query: ListVideosQuery,
    cameras: readonly ReferenceCamera[],
    links: Links,
    requestId?: string,
  ): Promise<VideoList> {
    const { rows, pagination } = await this.page('clips', query, cameras, links, requestId);
    return { videos: rows.map((video) => this.element(Video, video, 'clips', links)), pagination };
  }

  /** Returns an empty list without a state for an unknown request or one of another customer (decision 44). */
  private async listByRequest(
    query: ListVideosQuery,
    requestId: string,
    cameras: readonly ReferenceCamera[],
    links: Links,
  ): Promise<VideoList> {
    const found = isUuid(requestId) ? await this.requests.find(requestId) : undefined;
    const none = { videos: [], pagination: paginationOf(pageRequest(query), shownTotal(0, links.scenario)) };
    if (found === undefined || !matches(found, query, cameras)) return none;
    const { id, status, message } = found;
    // Its clips may be stored by now: with the next answer it is ready and has them.
    if (status === 'processing') return { ...none, request: { requestId: id, status, message } };
    return { ...(await this.listClips(query, cameras, links, id)), request: { requestId: id, status, message } };
  }

  private element<T extends Recording>(type: DtoClass<T>, video: VideoRow, kind: VideoKind, links: Links): T {
    const { origin, scenario, now } = links;
    const terms = this.scenarios.linkTerms(scenario, { truckId: video.truck_id }, now);
    const durationSeconds = Math.round((video.end_time.getTime() - video.start_time.getTime()) / 1000);
    return present(type, { ...video, durationSeconds, ...this.links.sign(origin, kind, video.id, terms) });
  }
}

/** Shifts later pages by one element, as if a recording had been inserted before the first page. */
const shifted = (page: PageRequest, scenario: string | undefined): PageRequest =>
  scenario === 'shifting-pages' && page.page > 1 ? { ...page, offset: page.offset - 1 } : page;

const shownTotal = (total: number, scenario: InjectedScenario | undefined): number =>
  scenario?.name === 'wrong-totals' ? total * 2 + 7 : total;

/** Throws `notFound` if the key is limited to another customer (decision 17). */
function assertCustomer(customerId: string, call: Call): void {
  const { customerId: limit } = principalOf(call);
  if (limit === null || limit === customerId) return;
  throw apiError(VISION_API, 'notFound', 'the customer is unknown: check customerId');
}

function matches(
  request: { readonly customerId: string; readonly truckId: string; readonly cameraId: string },
  query: ListVideosQuery,
  cameras: readonly ReferenceCamera[],
): boolean {
  if (request.customerId !== query.customerId) return false;
  if (query.truckId !== undefined && request.truckId !== query.truckId) return false;
  const { truckId, cameraId } = request;
  return query.cameraId === undefined || cameras.some((one) => one.truckId === truckId && one.cameraId === cameraId);
}
