import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { CreateErasure, Erasure, ErasureCounts, ErasureQuery } from '../../contracts/admin/erasure.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { Database } from '../../database/database.js';
import type { Sql } from '../../database/sql.js';
import { apiError, invalid } from '../../errors/app-error.js';
import { KEPT_DAYS } from '../../idempotency/idempotency.repository.js';
import { haulerOf, unknownConnection } from '../../vision/client/vision-connections.repository.js';
import { lockRemoval } from '../../vision/holds/holds.repository.js';
import { WorkService } from '../../work/work.service.js';
import { eraseAccount } from './account-erasure.js';
import { type AccountValues, findAccount } from './account-erasure.repository.js';
import { formViolations, type KeptDays, toErasureDto, toPreviewDto } from './erasure.rules.js';
import { type ErasureRow, ErasuresRepository, type ErasureTarget } from './erasures.repository.js';
import { namingFindings } from './finding-erasure.repository.js';
import { countFootage, countFootageExchanges } from './footage-erasure.repository.js';

/** The kind of work. */
export const ERASE = 'erasures';

/** Erasures by request, and their receipts. */
@Injectable()
export class Erasures {
  private readonly kept: KeptDays;

  constructor(
    private readonly database: Database,
    private readonly erasures: ErasuresRepository,
    private readonly work: WorkService,
    @Inject(ENV) env: Pick<ResolvedEnv, 'EXCHANGE_RETENTION_DAYS' | 'WEBHOOK_RETENTION_DAYS'>,
  ) {
    this.kept = { exchanges: env.EXCHANGE_RETENTION_DAYS, answers: KEPT_DAYS, deliveries: env.WEBHOOK_RETENTION_DAYS };
  }

  /**
   * Starts an erasure; a dry run only counts what it would erase, and stores nothing. 409 where a hold keeps footage of the range.
   */
  async create(request: CreateErasure, by: string): Promise<Erasure> {
    const violations = formViolations(request);
    if (violations.length > 0) throw invalid(violations);
    if (request.dryRun === true) return this.preview(request, by);
    const row = await this.database.transaction(async (transaction) => {
      const { target } = await this.target(transaction, request);
      return this.insert(transaction, target, by);
    });
    this.work.runDue(ERASE);
    return toErasureDto(row, this.kept);
  }

  async get(id: string): Promise<Erasure> {
    return toErasureDto(await this.find(id), this.kept);
  }

  async list(query: ErasureQuery): Promise<List<Erasure>> {
    const { rows, pagination } = await this.erasures.list(query);
    return { data: rows.map((row) => toErasureDto(row, this.kept)), pagination };
  }

  /** A hauler may have more tickets than a request can search. The row by which footage is found is rolled back. */
  private async preview(request: CreateErasure, by: string): Promise<Erasure> {
    let counted: Erasure | undefined;
    const work = async (transaction: Sql): Promise<never> => {
      const { target, account } = await this.target(transaction, request);
      const counts =
        account === undefined
          ? await footageCounts(transaction, await this.insert(transaction, target, by))
          : await eraseAccount(transaction, { haulerId: target.hauler_id, account, dryRun: true });
      counted = toPreviewDto(target, counts, by, this.kept);
      throw new CountedSignal();
    };
    await this.database.transaction(work, { pool: 'bulk' }).catch((error: unknown) => {
      if (!(error instanceof CountedSignal)) throw error;
    });
    return counted as Erasure;
  }

  /** 409 where a hold keeps any of its footage. */
  private async insert(transaction: Sql, target: ErasureTarget, by: string): Promise<ErasureRow> {
    await lockRemoval(transaction);
    const row = await this.erasures.insert(transaction, target, by);
    if (row.account_id === null) await this.refuseHeld(transaction, row);
    return row;
  }

  private async find(id: string, database: Sql = this.database): Promise<ErasureRow> {
    const row = await this.erasures.find(database, id);
    if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no erasure ${id}`);
    return row;
  }

  private async target(
    transaction: Sql,
    request: CreateErasure,
  ): Promise<{ readonly target: ErasureTarget; readonly account?: AccountValues }> {
    const { haulerId = '', accountId, connectionId = '', truckId, cameraId, from, to } = request;
    if (accountId !== undefined) {
      const account = await findAccount(transaction, haulerId, accountId);
      if (account === undefined)
        throw invalid([{ path: 'accountId', rule: 'isKnown', message: 'accountId must be an account of the hauler' }]);
      return { target: { ...NO_FOOTAGE, hauler_id: haulerId, account_id: accountId }, account };
    }
    const owner = await haulerOf(transaction, connectionId);
    if (owner === undefined) throw invalid([unknownConnection()]);
    if (haulerId !== '' && haulerId !== owner)
      throw invalid([{ path: 'haulerId', rule: 'isKnown', message: 'haulerId must be the hauler of the connection' }]);
    const range = { truck_id: truckId ?? null, camera_id: cameraId ?? null, from: from ?? null, to: to ?? null };
    return { target: { hauler_id: owner, account_id: null, connection_id: connectionId, ...range } };
  }

  private async refuseHeld(transaction: Sql, row: ErasureRow): Promise<void> {
    const holds = await this.erasures.blockingHolds(transaction, row);
    if (holds.length === 0) return;
    const cases = holds.map(({ id, case_id }) => `${case_id} (${id})`).join(', ');
    throw apiError(ADMIN_API, 'conflict', `footage of this range is held for ${cases}: release the holds first`, {
      details: { holdIds: holds.map(({ id }) => id) },
    });
  }
}

const NO_FOOTAGE = { connection_id: null, truck_id: null, camera_id: null, from: null, to: null };

/** Ends the transaction of a dry run. */
class CountedSignal extends Error {}

const footageCounts = async (transaction: Sql, row: ErasureRow): Promise<Partial<ErasureCounts>> => ({
  ...(await countFootage(transaction, row)),
  exchanges: await countFootageExchanges(transaction, row),
  findings: (await namingFindings(transaction, row)).length,
});
