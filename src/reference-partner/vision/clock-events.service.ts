import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import {
  type AdvanceClockRequest,
  type ClockEvent,
  MAX_SANDBOX_SECONDS,
  type SandboxClock,
} from '../../contracts/admin/sandbox.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { Database } from '../../core/database/database.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { WorkService } from '../../core/work/work.service.js';
import { PartnerClock } from '../sandbox/partner-clock.js';
import { CLIP_WORK } from './clip-preparation.job.js';
import { lastRecordingEnd } from './stored-videos.repository.js';
import { advanceDueClips, millisecondsToNextClip } from './video-requests.repository.js';

/** The platform lists the last six hours of recordings again every hour, and older ones once a day at most. */
const WINDOW_MS = 6 * 3_600_000;

/** Moves the clock of a customer forward: by seconds, or to the next event. */
@Injectable()
export class ClockEvents {
  constructor(
    private readonly database: Database,
    private readonly clock: PartnerClock,
    private readonly work: WorkService,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VISION_LINK_TTL'>,
  ) {}

  async advance(customerId: string, { advanceSeconds, advanceTo }: AdvanceClockRequest): Promise<SandboxClock> {
    if ((advanceSeconds === undefined) === (advanceTo === undefined)) {
      const message = 'send either advanceSeconds or advanceTo';
      throw invalid([{ path: 'advanceSeconds', rule: 'isOneOf', message }]);
    }
    const milliseconds =
      advanceTo === undefined ? (advanceSeconds ?? 0) * 1_000 : await this.until(advanceTo, customerId);
    const now = await this.database.transaction(async (transaction) => {
      await advanceDueClips(transaction, customerId, milliseconds);
      return this.clock.advance(transaction, customerId, milliseconds);
    });
    this.work.runDue(CLIP_WORK);
    return { now: formatInstant(new Date(now)) };
  }

  /** Milliseconds until an event. Throws `conflict` if the event is not ahead. */
  private async until(event: ClockEvent, customerId: string): Promise<number> {
    const milliseconds = await this.distance(event, customerId);
    const refused = (why: string) => apiError(ADMIN_API, 'conflict', `the clock cannot advance to ${event}${why}`);
    if (milliseconds === null || milliseconds <= 0) throw refused(': this customer has no such event ahead');
    if (milliseconds <= MAX_SANDBOX_SECONDS * 1_000) return milliseconds;
    throw refused(' in one step: it is more than 24 hours ahead; use advanceSeconds');
  }

  private async distance(event: ClockEvent, customerId: string): Promise<number | null> {
    if (event === 'link-expired') return this.env.VISION_LINK_TTL + 1_000;
    if (event === 'clip-ready') return millisecondsToNextClip(this.database, customerId);
    const end = await lastRecordingEnd(this.database, customerId);
    return end === null ? null : end + WINDOW_MS - (await this.clock.now(customerId));
  }
}
