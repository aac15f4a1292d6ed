import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import type { HostedVideoRequest, HostedVideoRequestQuery } from '../../contracts/admin/hosted.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { formatInstant, type Instant, microsBetween } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { countRows } from '../../database/count.js';
import type { CreateVideoRequest } from '../../contracts/vision/vision.dto.js';
import { uuidv7 } from '../../database/uuid.js';
import { invalid } from '../../errors/app-error.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { PartnerClock } from '../sandbox/partner-clock.js';
import type { ClipScenario } from '../sandbox/vision-scenarios.service.js';
import { CLIP_WORK } from './clip-preparation.job.js';
import { instantAs } from './stored-videos.repository.js';

const COLUMNS = `id, customer_id AS "customerId", truck_id AS "truckId", camera_id AS "cameraId",
  ${instantAs('start_time', 'startTime')}, ${instantAs('end_time', 'endTime')}, status, message,
  attempts, last_error AS "lastError",
  ${instantAs('created_at', 'createdAt')}, ${instantAs('finished_at', 'finishedAt')}`;

const MINUTE_MICROS = 60_000_000;

type Row = Omit<HostedVideoRequest, 'message' | 'lastError' | 'finishedAt'> & {
  readonly message: string | null;
  readonly lastError: string | null;
  readonly finishedAt: Instant | null;
};

/** The clip requests that callers have sent to the reference partner. */
@Injectable()
export class ReferenceVideoRequests {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly clock: PartnerClock,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VISION_MAX_CLIP_MINUTES'>,
  ) {}

  /**
   * Stores the request as `processing` and due at once, for `ClipPreparationJob`. The statement resolves the camera name
   * under a lock, because a name that moves to another camera moves its requests too.
   */
  async add(request: CreateVideoRequest, scenario?: ClipScenario): Promise<string> {
    const { customerId, truckId, cameraId, startTime, endTime } = request;
    const id = uuidv7();
    const createdAt = new Date(await this.clock.now(customerId));
    await this.dataSource.query(
      `INSERT INTO reference_video_requests (id, customer_id, truck_id, camera_id, start_time, end_time, status, due_at,
         sandbox, created_at)
       VALUES ($1, $2, $3, coalesce((SELECT camera_id FROM reference_camera_names
         WHERE (customer_id, truck_id, name) = ($2, $3, $4) FOR SHARE), $4), $5, $6, 'processing', now() + make_interval(secs => $7), $8, $9)`,
      [id, customerId, truckId, cameraId, startTime, endTime, delaySeconds(scenario), scenario ?? null, createdAt],
    );
    this.jobs.runDue(CLIP_WORK);
    return id;
  }

  /** Throws `invalid` if the end is not after the start, or the clip is too long (decision 42). */
  assertRange({ startTime, endTime }: CreateVideoRequest): void {
    const maxMinutes = this.env.VISION_MAX_CLIP_MINUTES;
    assertOrder(startTime, endTime);
    if (microsBetween(startTime, endTime) <= maxMinutes * MINUTE_MICROS) return;
    throw invalidRange(`endTime must be at most ${maxMinutes} minutes after startTime`);
  }

  async find(id: string): Promise<HostedVideoRequest | undefined> {
    const [row] = await this.dataSource.query<Row[]>(`SELECT ${COLUMNS} FROM reference_video_requests WHERE id = $1`, [
      id,
    ]);
    return row === undefined ? undefined : requestOf(row);
  }

  /** Newest first. */
  async list(query: HostedVideoRequestQuery): Promise<List<HostedVideoRequest>> {
    const page = pageRequest(query);
    const status = query.status ?? null;
    const found = 'FROM reference_video_requests WHERE ($1::text IS NULL OR status = $1)';
    const order = 'ORDER BY reference_video_requests.created_at DESC, id DESC';
    // With its order the count reads an index as well.
    const total = await countRows(this.dataSource, `SELECT 1 ${found} ${order}`, [status]);
    // The rows before the page are read from an index alone.
    const rows = await this.dataSource.query<Row[]>(
      `SELECT ${COLUMNS} FROM reference_video_requests
       WHERE id IN (SELECT id ${found} ${order} OFFSET $2 LIMIT $3) ${order}`,
      [status, page.offset, page.pageSize],
    );
    return { data: rows.map(requestOf), pagination: paginationOf(page, total) };
  }
}

/** Null: the request is never due. */
function delaySeconds(scenario: ClipScenario | undefined): number | null {
  return scenario?.name === 'endless-clip' ? null : (scenario?.seconds ?? 0);
}

function requestOf({ message, lastError, finishedAt, startTime, endTime, createdAt, ...row }: Row): HostedVideoRequest {
  return {
    ...row,
    startTime: formatInstant(startTime),
    endTime: formatInstant(endTime),
    createdAt: formatInstant(createdAt),
    ...(message === null ? {} : { message }),
    ...(lastError === null ? {} : { lastError }),
    ...(finishedAt === null ? {} : { finishedAt: formatInstant(finishedAt) }),
  };
}

/** Throws `invalid` if the end is not after the start (decision 42). */
export function assertOrder(startTime: Instant | undefined, endTime: Instant | undefined): void {
  if (startTime === undefined || endTime === undefined || startTime < endTime) return;
  throw invalidRange('endTime must be after startTime');
}

const invalidRange = (message: string) => invalid([{ path: 'endTime', rule: 'isRange', message }]);
