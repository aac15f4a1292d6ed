import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { CreateErasure, Erasure, ErasureCounts, ErasureQuery } from '../../contracts/admin/erasure.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { Database } from '../../database/database.js';
import type { Querying } from '../../database/sql.js';
import { inTransaction } from '../../database/transaction.js';
import { apiError, invalid } from '../../errors/app-error.js';
import { unknownConnection } from '../../vision/client/vision-connections.repository.js';
import { HoldsRepository, lockRemoval } from '../../vision/holds/holds.repository.js';
import { WorkService } from '../../work/work.service.js';
import { ACCOUNT_PLACES, type AccountTexts, countIn, findAccount } from './account-erasure.repository.js';
import { accountReferences, countsOf, formViolations, mentionsOf, newCode, toErasureDto } from './erasure.rules.js';
import { CONFIRMABLE_MS, type ErasureRow, ErasuresRepository, type ErasureTarget } from './erasures.repository.js';
import { countAccountExchanges } from './exchange-erasure.repository.js';
import { countDeliveries, namingFindings } from './trace-erasure.repository.js';
import { countFootage, countFootageExchanges } from './footage-erasure.repository.js';

/** The kind of work. */
export const ERASE = 'erasures';

/** Erasures by request: a preview, its confirmation, and the receipt. */
@Injectable()
export class Erasures {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
    private readonly erasures: ErasuresRepository,
    private readonly holds: HoldsRepository,
    private readonly work: WorkService,
  ) {}

  /** Changes nothing but the preview itself. 409 where a hold keeps footage of the range. */
  async create(request: CreateErasure, by: string): Promise<Erasure> {
    const violations = formViolations(request);
    if (violations.length > 0) throw invalid(violations);
    return this.reading(async (manager) => {
      const { target, account } = await this.target(manager, request);
      const row = await this.erasures.insert(manager, target, newCode(), by);
      if (account === undefined) await this.refuseHeld(manager, row);
      const preview =
        account === undefined ? await footageCounts(manager, row) : await accountCounts(manager, row, account);
      await this.erasures.storePreview(manager, row, preview);
      return toErasureDto({ ...row, preview });
    });
  }

  /** Starts the job. 409 for a wrong code, an old preview, and where a hold was created meanwhile. */
  async confirm(id: string, code: string, by: string): Promise<Erasure> {
    await inTransaction(this.dataSource, async (manager) => {
      await lockRemoval(manager);
      const row = await this.find(id, manager);
      if (row.status !== 'previewed') throw conflict(`the erasure ${id} is ${row.status}`);
      if (row.code !== code.trim().toUpperCase()) throw conflict('the confirmation code is not that of the preview');
      if (Date.now() > row.created_at.getTime() + CONFIRMABLE_MS)
        throw conflict(`the preview ${id} is older than an hour: make a new one`);
      if (row.account_id === null) await this.refuseHeld(manager, row);
      if (!(await this.erasures.start(manager, row, by))) throw conflict(`the erasure ${id} was confirmed meanwhile`);
    });
    this.work.runDue(ERASE);
    return this.get(id);
  }

  async get(id: string): Promise<Erasure> {
    return toErasureDto(await this.find(id));
  }

  async list(query: ErasureQuery): Promise<List<Erasure>> {
    const { rows, pagination } = await this.erasures.list(query);
    return { data: rows.map(toErasureDto), pagination };
  }

  private async find(id: string, database: Querying = this.dataSource): Promise<ErasureRow> {
    const row = await this.erasures.find(database, id);
    if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no erasure ${id}`);
    return row;
  }

  private async target(
    manager: EntityManager,
    request: CreateErasure,
  ): Promise<{ readonly target: ErasureTarget; readonly account?: AccountTexts }> {
    const { haulerId = '', accountId, connectionId = '', truckId, cameraId, from, to } = request;
    if (accountId !== undefined) {
      const account = await findAccount(manager, haulerId, accountId);
      if (account === undefined)
        throw invalid([{ path: 'accountId', rule: 'isKnown', message: 'accountId must be an account of the hauler' }]);
      return { target: { ...NO_FOOTAGE, hauler_id: haulerId, account_id: accountId }, account };
    }
    const owner = await this.holds.haulerOf(connectionId);
    if (owner === undefined) throw invalid([unknownConnection()]);
    if (haulerId !== '' && haulerId !== owner)
      throw invalid([{ path: 'haulerId', rule: 'isKnown', message: 'haulerId must be the hauler of the connection' }]);
    const range = { truck_id: truckId ?? null, camera_id: cameraId ?? null, from: from ?? null, to: to ?? null };
    return { target: { hauler_id: owner, account_id: null, connection_id: connectionId, ...range } };
  }

  private async refuseHeld(manager: EntityManager, row: ErasureRow): Promise<void> {
    const holds = await this.erasures.blockingHolds(manager, row);
    if (holds.length === 0) return;
    const cases = holds.map(({ id, case_id }) => `${case_id} (${id})`).join(', ');
    throw apiError(ADMIN_API, 'conflict', `footage of this range is held for ${cases}: release the holds first`, {
      details: { holdIds: holds.map(({ id }) => id) },
    });
  }

  /** A hauler may have more tickets than a request can search. */
  private reading<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return inTransaction(this.dataSource, work, { lane: this.database.bulk });
  }
}

const NO_FOOTAGE = { connection_id: null, truck_id: null, camera_id: null, from: null, to: null };

const conflict = (message: string) => apiError(ADMIN_API, 'conflict', message);

async function footageCounts(manager: EntityManager, row: ErasureRow): Promise<ErasureCounts> {
  return countsOf({
    ...(await countFootage(manager, row)),
    exchanges: await countFootageExchanges(manager, row),
    deliveries: await countDeliveries(manager, row),
    findings: (await namingFindings(manager, row)).length,
  });
}

async function accountCounts(manager: EntityManager, row: ErasureRow, account: AccountTexts): Promise<ErasureCounts> {
  const texts = mentionsOf(account);
  const exchanges = await countAccountExchanges(manager, row.hauler_id, accountReferences(account), texts);
  let counts = countsOf({ accounts: 1, exchanges });
  for (const place of ACCOUNT_PLACES) {
    const owner = place === 'actions' ? account.id : row.hauler_id;
    counts = { ...counts, [place]: await countIn(manager, place, owner, texts) };
  }
  return counts;
}
