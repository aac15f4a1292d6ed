import { Injectable } from '@nestjs/common';
import { DataSource, type FindOptionsWhere } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { VideoRequest, VideoRequestPart, VideoRequestQuery } from '../../contracts/admin/video-request.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { apiError } from '../../errors/app-error.js';
import type { RequestState } from './request-states.js';
import { VideoRequestEntity } from './video-request.entity.js';

interface PartRow {
  readonly request_id: string;
  readonly number: number;
  readonly start_time: Date;
  readonly end_time: Date;
  readonly status: RequestState;
  readonly reason: string | null;
  readonly partner_request_id: string | null;
  readonly recording_ids: string[];
}

/** What the administration reads of requests. */
@Injectable()
export class VideoRequestQueries {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first. */
  async list({ connectionId, truckId, status, ...paging }: VideoRequestQuery): Promise<List<VideoRequest>> {
    const page = pageRequest(paging);
    const where: FindOptionsWhere<VideoRequestEntity> = {
      ...(connectionId === undefined ? {} : { connectionId }),
      ...(truckId === undefined ? {} : { truckId }),
      ...(status === undefined ? {} : { status }),
    };
    const [rows, total] = await this.dataSource.manager.findAndCount(VideoRequestEntity, {
      where,
      order: { id: 'DESC' },
      skip: page.offset,
      take: page.pageSize,
    });
    return { data: await this.shown(rows), pagination: paginationOf(page, total) };
  }

  async get(id: string): Promise<VideoRequest> {
    const [shown] = await this.shown(await this.dataSource.manager.findBy(VideoRequestEntity, { id }));
    if (shown === undefined) throw apiError(ADMIN_API, 'notFound', `there is no video request ${id}`);
    return shown;
  }

  private async shown(rows: readonly VideoRequestEntity[]): Promise<VideoRequest[]> {
    if (rows.length === 0) return [];
    const parts = await this.dataSource.query<PartRow[]>(
      `SELECT request_id, number, start_time, end_time, status, coalesce(reason, last_error) AS reason, partner_request_id,
         ARRAY(SELECT r.id FROM recordings r WHERE r.hauler_id = part.hauler_id AND r.part_id = part.id
               ORDER BY r.start_time, r.id)::text[] AS recording_ids
       FROM video_request_parts AS part
       WHERE (hauler_id, request_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[])) ORDER BY number`,
      [rows.map(({ haulerId }) => haulerId), rows.map(({ id }) => id)],
    );
    return rows.map((row) =>
      shownRequest(
        row,
        parts.filter(({ request_id }) => request_id === row.id),
      ),
    );
  }
}

function shownRequest(row: VideoRequestEntity, parts: readonly PartRow[]): VideoRequest {
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
    parts: parts.map(shownPart),
    recordingIds: parts.flatMap(({ recording_ids }) => recording_ids),
    deadline: formatInstant(row.deadlineAt),
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
}

function shownPart(part: PartRow): VideoRequestPart {
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
