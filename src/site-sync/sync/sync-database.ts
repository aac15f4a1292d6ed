import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { BULK_TIMEOUT_MS, Database } from '../../database/database.js';
import { inTransaction } from '../../database/transaction.js';
import { Semaphore } from '../../database/semaphore.js';

/** Answers that one instance stages and applies at the same time. */
const MAX_TRANSACTIONS = 3;

/** Statement timeout while an answer is applied. */
export const APPLY_TIMEOUT_MS = BULK_TIMEOUT_MS;

/**
 * The statistics of PostgreSQL know neither the staged records nor what the transaction has written, so that it expects one
 * row and may loop over all staged records for each stored one, for minutes. Every statement needs a whole
 * answer or catalog, for which hash joins that fit into memory are right.
 */
const SETTINGS = { enable_nestloop: 'off', work_mem: '32MB' };

/** The long transactions of the synchronisation, on connections that requests do not use. */
@Injectable()
export class SyncDatabase {
  readonly slots = new Semaphore(MAX_TRANSACTIONS);

  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {}

  /** Runs `work` once in a transaction. The caller holds one of the `slots`. */
  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return inTransaction(this.dataSource, work, { lane: this.database.bulk, settings: SETTINGS, attempts: 1 });
  }
}
