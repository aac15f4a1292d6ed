import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { CreateErasure, Erasure, ErasureCounts, ErasureQuery } from '../../contracts/admin/erasures.routes.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { KEPT_DAYS } from '../../core/idempotency/idempotency.repository.js';
import { haulerOf, unknownConnection } from '../../vision/client/vision-connections.repository.js';
import { lockRemoval } from '../../vision/holds/holds.repository.js';
import { WorkService } from '../../core/work/work.service.js';
import { eraseAccount } from './account-erasure.js';
import { type AccountValues, findAccount, isAccount } from './account-erasure.repository.js';
import { formViolations, type KeptDays, toErasureDto, toPreviewDto } from './erasure.rules.js';
import { type ErasureRow, ErasuresRepository, type ErasureTarget } from './erasures.repository.js';
import { countFootage, countFootageExchanges, namingFindings } from './footage-erasure.repository.js';

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
    const dto = await this.database.transaction((transaction) => this.createIn(transaction, request, by), {
      // A hauler may have more tickets than a request can search.
      pool: request.dryRun === true ? 'bulk' : 'general',
      isDryRun: request.dryRun,
    });
    if (request.dryRun !== true) this.work.runDue(ERASE);
    return dto;
  }

  async get(id: string): Promise<Erasure> {
    return toErasureDto(await this.find(id), this.kept);
  }

  async list(query: ErasureQuery): Promise<List<Erasure>> {
    const { rows, pagination } = await this.erasures.list(query);
    return { data: rows.map((row) => toErasureDto(row, this.kept)), pagination };
  }

  private async createIn(transaction: Sql, request: CreateErasure, by: string): Promise<Erasure> {
    const { target, account } = await this.target(transaction, request);
    if (request.dryRun !== true) return toErasureDto(await this.insert(transaction, target, by), this.kept);
    const counts =
      account === undefined
        ? await footageCounts(transaction, await this.insert(transaction, target, by))
        : await eraseAccount(transaction, { haulerId: target.hauler_id, account, dryRun: true });
    return toPreviewDto(target, counts, by, this.kept);
  }

  /** 409 where a hold keeps any of its footage. */
  private async insert(transaction: Sql, target: ErasureTarget, by: string): Promise<ErasureRow> {
    await lockRemoval(transaction);
    const row = await this.erasures.insert(transaction, target, by);
    if (row.account_id === null) await this.refuseHeld(transaction, row);
    return row;
  }

  private async find(id: string): Promise<ErasureRow> {
    const row = await this.erasures.find(this.database, id);
    if (row === undefined) throw notFound(`there is no erasure ${id}`);
    return row;
  }

  private async target(
    transaction: Sql,
    request: CreateErasure,
  ): Promise<{ readonly target: ErasureTarget; readonly account?: AccountValues }> {
    const { haulerId = '', accountId, connectionId = '', truckId, cameraId, from, to } = request;
    if (accountId !== undefined) {
      const account = await findAccount(transaction, haulerId, accountId);
      if (account === undefined) throw await this.absentAccount(transaction, haulerId, accountId);
      return { target: { ...NO_FOOTAGE, hauler_id: haulerId, account_id: accountId }, account };
    }
    const owner = await haulerOf(transaction, connectionId);
    if (owner === undefined) throw invalid([unknownConnection()]);
    if (haulerId !== '' && haulerId !== owner)
      throw notFound(`the hauler ${haulerId} has no vision connection ${connectionId}`);
    const range = { truck_id: truckId ?? null, camera_id: cameraId ?? null, from: from ?? null, to: to ?? null };
    return { target: { hauler_id: owner, account_id: null, connection_id: connectionId, ...range } };
  }

  /** 404 for what another hauler owns (decision 68). */
  private async absentAccount(transaction: Sql, haulerId: string, accountId: string): Promise<Error> {
    if (await isAccount(transaction, accountId)) return notFound(`the hauler ${haulerId} has no account ${accountId}`);
    return invalid([{ path: 'accountId', rule: 'isKnown', message: 'accountId must be an account of the hauler' }]);
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

const notFound = (message: string) => apiError(ADMIN_API, 'notFound', message);

const NO_FOOTAGE = { connection_id: null, truck_id: null, camera_id: null, from: null, to: null };

const footageCounts = async (transaction: Sql, row: ErasureRow): Promise<Partial<ErasureCounts>> => ({
  ...(await countFootage(transaction, row)),
  exchanges: await countFootageExchanges(transaction, row),
  findings: (await namingFindings(transaction, row)).length,
});
