import { Inject, Injectable } from '@nestjs/common';
import { ENV, type SettledEnv } from '../../config/env.js';
import { type Instant, microsBetween } from '../../contracts/common/instant.js';
import type { CreateVideoRequest } from '../../contracts/vision/vision.dto.js';
import { invalid } from '../../errors/app-error.js';
import { JobsService } from '../../jobs/jobs.service.js';
import { CLIP_WORK } from './clip-preparation.js';

const MINUTE_MICROS = 60_000_000;

/** What may be ordered, and the call to begin. */
@Injectable()
export class ClipOrders {
  constructor(
    private readonly jobs: JobsService,
    @Inject(ENV) private readonly env: SettledEnv,
  ) {}

  /** Decision 42. */
  assertRange({ startTime, endTime }: CreateVideoRequest): void {
    assertOrder(startTime, endTime);
    const longest = this.env.VISION_MAX_CLIP_MINUTES;
    if (microsBetween(startTime, endTime) <= longest * MINUTE_MICROS) return;
    throw invalidRange(`endTime must be at most ${longest} minutes after startTime`);
  }

  begin(): void {
    this.jobs.wake(CLIP_WORK);
  }
}

/** Decision 42: the end comes after the start. */
export function assertOrder(startTime: Instant | undefined, endTime: Instant | undefined): void {
  if (startTime === undefined || endTime === undefined || startTime < endTime) return;
  throw invalidRange('endTime must be after startTime');
}

function invalidRange(message: string) {
  return invalid([{ path: 'endTime', rule: 'isRange', message }]);
}
