import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { ExchangeLog } from '../../exchanges/exchange-log.service.js';
import type { Next, Run } from '../../core/work/run.js';
import { WorkService } from '../../core/work/work.service.js';
import { eraseAccount } from './account-erasure.js';
import { findAccount } from './account-erasure.repository.js';
import { countsOf } from './erasure.rules.js';
import { type ErasureRow, ErasuresRepository } from './erasures.repository.js';
import { ERASE } from './erasures.service.js';
import { type ErasureKey, FootageErasure } from './footage-erasure.js';

const MAX_ATTEMPTS = 100;

/** Erases. An account is one transaction; footage is erased recording by recording. */
@Injectable()
export class ErasureJob implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly erasures: ErasuresRepository,
    private readonly work: WorkService,
    private readonly log: ExchangeLog,
    private readonly footage: FootageErasure,
  ) {}

  onModuleInit(): void {
    this.work.register<ErasureKey>({
      name: ERASE,
      table: 'erasures',
      key: { hauler_id: 'uuid', id: 'uuid' },
      where: "status = 'running'",
      lane: { by: 'hauler_id', concurrency: 1 },
      lanes: 2,
      backoff: { firstMs: 5_000, factor: 3, maxMs: 600_000, jitter: 0.2 },
      attempts: {
        max: MAX_ATTEMPTS,
        giveUp: (run, reason) => run.finish('done', { status: 'failed', reason, finished_at: new Date() }),
      },
      run: (run) => this.erase(run),
    });
  }

  private async erase(run: Run<ErasureKey>): Promise<Next> {
    const row = await this.erasures.find(this.database, run.row.id);
    if (row === undefined) return 'done';
    await this.log.flushForReader();
    return row.account_id === null ? this.footage.erase(run, row) : this.eraseAccount(run, row, row.account_id);
  }

  /** An account that is gone was erased before, with its counts. */
  private async eraseAccount(run: Run<ErasureKey>, row: ErasureRow, accountId: string): Promise<Next> {
    const { hauler_id: haulerId } = row;
    const work = async (transaction: Sql) => {
      const account = await findAccount(transaction, haulerId, accountId);
      if (account === undefined) return;
      const erased = await eraseAccount(transaction, { haulerId, account, dryRun: false, signal: run.signal });
      await run.update({ erased: countsOf(erased) }, transaction);
    };
    await this.database.transaction(work, { pool: 'bulk' });
    await run.finish('done', { status: 'done', finished_at: new Date() });
    return 'done';
  }
}
