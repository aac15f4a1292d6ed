import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type SettledEnv } from '../../config/env.js';
import type { OrderedVideoRequest, OrderVideoRequest } from '../../contracts/admin/video-request.dto.js';
import { epochMillis } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { inTransaction } from '../../database/transaction.js';
import { uuidv7 } from '../../database/uuid.js';
import { invalid } from '../../errors/app-error.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { noConnection, type VisionConnection, VisionConnections } from '../vision-connections.js';
import { LAST, type Range, splitRange } from './split-range.js';
import { SUBMIT } from './submit.work.js';

/** Pieces of one request: nobody watches more at one go, and each is a request at the partner. */
const MOST_PARTS = 1_000;

/** By the database's clock, which judges it; without the microseconds, which a JavaScript date would lose on the way. */
const DEADLINE = "date_trunc('milliseconds', now()) + $6::float8 * interval '1 ms'";

/** Takes requests for on-demand video (section 1, workflow 4). */
@Injectable()
export class VideoRequests {
  constructor(
    private readonly dataSource: DataSource,
    private readonly connections: VisionConnections,
    private readonly jobs: JobsService,
    @Inject(ENV) private readonly env: SettledEnv,
  ) {}

  /** Written with all its parts; the partner is asked afterwards. 400 with every violation. */
  async order(request: OrderVideoRequest): Promise<OrderedVideoRequest> {
    const violations = rangeViolations(request, this.env.VISION_MAX_CLIP_MINUTES);
    const connection = await this.connections.find(request.connectionId);
    if (connection === undefined) violations.push(noConnection());
    if (violations.length > 0 || connection === undefined) throw invalid(violations);
    const id = uuidv7();
    await this.write(id, request, connection, splitRange(request, this.env.VISION_MAX_CLIP_MINUTES));
    this.jobs.wake(SUBMIT);
    return { id, status: 'submitting' };
  }

  private async write(
    id: string,
    { truckId, cameraId, startTime, endTime }: OrderVideoRequest,
    { haulerId, id: connectionId, customerId }: VisionConnection,
    pieces: readonly Range[],
  ): Promise<void> {
    const common = [haulerId, connectionId, customerId, truckId, cameraId, this.env.VISION_REQUEST_DEADLINE, id];
    await inTransaction(this.dataSource, async (manager) => {
      await manager.query(
        `INSERT INTO video_requests (hauler_id, connection_id, customer_id, truck_id, camera_id, deadline_at, id,
           start_time, end_time, status, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, ${DEADLINE}, $7, $8, $9, 'submitting', now(), now())`,
        [...common, startTime, endTime],
      );
      await manager.query(
        `INSERT INTO video_request_parts (hauler_id, connection_id, customer_id, truck_id, camera_id, deadline_at,
           request_id, number, id, start_time, end_time, status, due_at)
         SELECT $1, $2, $3, $4, $5, ${DEADLINE}, $7, piece.number, piece.id, piece.starts, piece.ends, 'submitting', now()
         FROM unnest($8::uuid[], $9::timestamptz[], $10::timestamptz[])
           WITH ORDINALITY AS piece (id, starts, ends, number)`,
        [
          ...common,
          pieces.map(() => uuidv7()),
          pieces.map((piece) => piece.startTime),
          pieces.map((piece) => piece.endTime),
        ],
      );
    });
  }
}

function rangeViolations({ startTime, endTime }: OrderVideoRequest, clipMinutes: number): Violation[] {
  if (endTime <= startTime) return [rangeViolation('endTime must be after startTime')];
  if (epochMillis(startTime) >= LAST) {
    const message = 'startTime must be before 9999-12-31T23:59:59.999Z';
    return [{ path: 'startTime', rule: 'isRange', message }];
  }
  const minutes = (epochMillis(endTime) - epochMillis(startTime)) / 60_000;
  if (minutes <= clipMinutes * MOST_PARTS) return [];
  return [rangeViolation(`endTime must be at most ${clipMinutes * MOST_PARTS} minutes after startTime`)];
}

const rangeViolation = (message: string): Violation => ({ path: 'endTime', rule: 'isRange', message });
