import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { HostedVideoRequest, type HostedVideoRequestQuery } from '../../contracts/admin/hosted.routes.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { type Instant, microsBetween } from '../../contracts/common/instant.js';
import { present } from '../../contracts/common/present.js';
import type { CreateVideoRequest } from '../../contracts/vision/vision.api.js';
import { Database } from '../../core/database/database.js';
import { uuidv7 } from '../../core/database/uuid.js';
import { invalid } from '../../core/errors/app-error.js';
import { WorkService } from '../../core/work/work.service.js';
import { PartnerClock } from '../sandbox/partner-clock.js';
import type { ClipScenario } from '../sandbox/vision-scenarios.service.js';
import { CLIP_WORK } from './clip-preparation.job.js';
import { findVideoRequest, insertVideoRequest, listVideoRequests } from './video-requests.repository.js';

const MINUTE_MICROS = 60_000_000;

/** The clip requests that callers have sent to the reference partner. */
@Injectable()
export class ReferenceVideoRequests {
  constructor(
    private readonly database: Database,
    private readonly work: WorkService,
    private readonly clock: PartnerClock,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VISION_MAX_CLIP_MINUTES'>,
  ) {}

  /** The request is due at once, for `ClipPreparationJob`. Returns its id. */
  async add(request: CreateVideoRequest, scenario?: ClipScenario): Promise<string> {
    const id = uuidv7();
    await insertVideoRequest(this.database, {
      ...request,
      id,
      createdAt: new Date(await this.clock.now(request.customerId)),
      delaySeconds: delaySeconds(scenario),
      scenario: scenario ?? null,
    });
    this.work.runDue(CLIP_WORK);
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
    const row = await findVideoRequest(this.database, id);
    return row && present(HostedVideoRequest, row);
  }

  /** Newest first. */
  async list(query: HostedVideoRequestQuery): Promise<List<HostedVideoRequest>> {
    const { rows, pagination } = await listVideoRequests(this.database, query);
    return { data: rows.map((row) => present(HostedVideoRequest, row)), pagination };
  }
}

/** Null: the request is never due. */
function delaySeconds(scenario: ClipScenario | undefined): number | null {
  return scenario?.name === 'endless-clip' ? null : (scenario?.seconds ?? 0);
}

/** Throws `invalid` if the end is not after the start (decision 42). */
export function assertOrder(startTime: Instant | undefined, endTime: Instant | undefined): void {
  if (startTime === undefined || endTime === undefined || startTime < endTime) return;
  throw invalidRange('endTime must be after startTime');
}

const invalidRange = (message: string) => invalid([{ path: 'endTime', rule: 'isRange', message }]);
