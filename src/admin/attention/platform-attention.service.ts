import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ExchangeHours } from '../../exchanges/exchange-hours.repository.js';
import { ExchangeLog } from '../../exchanges/exchange-log.service.js';
import { FailingCallsRepository } from '../../exchanges/failing-calls.repository.js';
import { RunAttentionRepository } from '../../site-sync/sync/run-attention.repository.js';
import { FootageAttentionRepository } from '../../vision/recordings/footage-attention.repository.js';
import { absentNotice, callNotice, type Notice, refusalNotice, runNotice } from './attention.rules.js';
import { AttentionService, CannotCheckError } from './attention.service.js';
import { clipsNotice, lossNotice, riskNotice, unreadNotice } from './footage-attention.rules.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The checks over what the platform side stores. */
@Injectable()
export class PlatformAttention implements OnModuleInit {
  constructor(
    private readonly attention: AttentionService,
    private readonly runs: RunAttentionRepository,
    private readonly calls: FailingCallsRepository,
    private readonly footage: FootageAttentionRepository,
    private readonly hours: ExchangeHours,
    private readonly log: ExchangeLog,
  ) {}

  onModuleInit(): void {
    const { footage, runs } = this;
    this.attention.add([
      {
        kinds: ['held-runs', 'quarantined-records'],
        find: async (now) => (await runs.finished()).map((run) => runNotice(run, now)),
      },
      { kinds: ['failing-runs'], find: async (now) => (await runs.failed()).map((run) => runNotice(run, now)) },
      { kinds: ['absent-lists'], find: async () => (await runs.absentLists()).map(absentNotice) },
      { kinds: ['refused-keys', 'failing-calls'], find: () => this.failingCalls() },
      {
        kinds: ['downloads-at-risk'],
        find: async (now) => (await footage.atRisk()).map((row) => riskNotice(row, now)),
      },
      { kinds: ['unread-windows'], find: async () => (await footage.unread()).map(unreadNotice) },
      {
        kinds: ['failed-downloads', 'expired-downloads'],
        find: async (now) => (await footage.lost()).map((row) => lossNotice(row, now)),
      },
      {
        kinds: ['failed-clips'],
        find: async (now) => (await footage.lostClips()).map((row) => clipsNotice(row, now)),
      },
      { kinds: ['refused-pushes'], find: (now) => this.refusedPushes(now) },
    ]);
  }

  /** The last call of each operation decides, so that calls that succeeded have to be in the log too. */
  private async failingCalls(): Promise<Notice[]> {
    if (!this.log.isComplete) throw new CannotCheckError('The exchange log does not have every call (EXCHANGE_LOG).');
    return (await this.calls.find()).map(callNotice);
  }

  private async refusedPushes(now: number): Promise<Notice[]> {
    if (!this.log.isOn) throw new CannotCheckError('The exchange log is off (EXCHANGE_LOG).');
    await this.log.flushForReader();
    // Hours are counted whole.
    const from = new Date(Math.ceil((now - DAY_MS) / HOUR_MS) * HOUR_MS);
    return (await this.hours.refusedPushes(from)).map((pushes) => refusalNotice(pushes, from));
  }
}
