import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type {
  OrderedVideoRequest,
  OrderVideoRequest,
  VideoRequest,
  VideoRequestPart,
  VideoRequestQuery,
} from '../../contracts/admin/video-request.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { uuidv7 } from '../../database/uuid.js';
import { apiError, invalid } from '../../errors/app-error.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { SUBMIT_CLIPS, unknownConnection, VisionConnections } from '../client/vision-connections.repository.js';
import { rangeViolations, splitRange } from './clip-requests.rules.js';
import { ClipsRepository, type PartRow } from './clips.repository.js';
import type { VideoRequestEntity } from '../vision.entity.js';

/** On-demand video (section 1, workflow 4): the requests of admins, and their states. */
@Injectable()
export class VideoRequests {
  constructor(
    private readonly clips: ClipsRepository,
    private readonly connections: VisionConnections,
    private readonly jobs: JobsService,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  /** Stores the request with all its parts; a job sends them to the partner. 400 with every violation. */
  async order(request: OrderVideoRequest): Promise<OrderedVideoRequest> {
    const clipMinutes = this.env.VISION_MAX_CLIP_MINUTES;
    const violations = rangeViolations(request, clipMinutes);
    const connection = await this.connections.find(request.connectionId);
    if (connection === undefined) violations.push(unknownConnection());
    if (violations.length > 0 || connection === undefined) throw invalid(violations);
    const { haulerId, customerId } = connection;
    const id = uuidv7();
    const deadlineMs = this.env.VISION_REQUEST_DEADLINE;
    await this.clips.insertRequest(
      { ...request, id, haulerId, customerId, deadlineMs },
      splitRange(request, clipMinutes),
    );
    this.jobs.runDue(SUBMIT_CLIPS);
    return { id, status: 'submitting' };
  }

  /** Newest first. */
  async list({ connectionId, truckId, status, ...paging }: VideoRequestQuery): Promise<List<VideoRequest>> {
    const page = pageRequest(paging);
    const { rows, total } = await this.clips.requests({ connectionId, truckId, status }, page);
    return { data: await this.withParts(rows), pagination: paginationOf(page, total) };
  }

  async get(id: string): Promise<VideoRequest> {
    const row = await this.clips.findRequest(id);
    const [request] = row === null ? [] : await this.withParts([row]);
    if (request === undefined) throw apiError(ADMIN_API, 'notFound', `there is no video request ${id}`);
    return request;
  }

  private async withParts(rows: readonly VideoRequestEntity[]): Promise<VideoRequest[]> {
    if (rows.length === 0) return [];
    const parts = Map.groupBy(await this.clips.partsOf(rows), ({ request_id }) => request_id);
    return rows.map((row) => toVideoRequestDto(row, parts.get(row.id) ?? []));
  }
}

function toVideoRequestDto(row: VideoRequestEntity, parts: readonly PartRow[]): VideoRequest {
  const [only] = parts.length === 1 ? parts : [];
  return {
    id: row.id,
    haulerId: row.haulerId,
    connectionId: row.connectionId,
    customerId: row.customerId,
    truckId: row.truckId,
    cameraId: row.cameraId,
    startTime: formatInstant(row.startTime),
    endTime: formatInstant(row.endTime),
    status: row.status,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(only?.partner_request_id == null ? {} : { partnerRequestId: only.partner_request_id }),
    parts: parts.map(toPartDto),
    recordingIds: parts.flatMap(({ recording_ids }) => recording_ids),
    deadline: formatInstant(row.deadlineAt),
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
}

function toPartDto(part: PartRow): VideoRequestPart {
  return {
    number: part.number,
    startTime: formatInstant(part.start_time),
    endTime: formatInstant(part.end_time),
    status: part.status,
    ...(part.reason === null ? {} : { reason: part.reason }),
    ...(part.partner_request_id === null ? {} : { partnerRequestId: part.partner_request_id }),
    recordingIds: part.recording_ids,
  };
}
