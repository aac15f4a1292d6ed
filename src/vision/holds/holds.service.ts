import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import {
  type CreateHold,
  Hold,
  HoldDetails,
  type HoldQuery,
  KeptByHold,
  MAX_HOLD_DAYS,
  MissingFootage,
  ReleasedHold,
  type ReleaseHold,
} from '../../contracts/admin/holds.routes.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { AdminRecording, StoredRecording } from '../../contracts/admin/recordings.routes.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import { present } from '../../contracts/common/present.js';
import type { Violation } from '../../contracts/common/violation.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { haulerOf, unknownConnection } from '../client/vision-connections.repository.js';
import { countHeld, findMissing } from './held-footage.repository.js';
import { type HoldRow, HoldsRepository, lockHolding } from './holds.repository.js';

/** Holds of footage: rules over ranges of trucks, later recordings included. */
@Injectable()
export class Holds {
  constructor(
    private readonly holds: HoldsRepository,
    private readonly database: Database,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VIDEO_ROWS_DAYS'>,
  ) {}

  /**
   * The answer names what is missing of the range. Waits for the removals that are running, and no removal begins before
   * the hold is committed: what it does not name as missing is held.
   */
  async create(hold: CreateHold, by: string): Promise<HoldDetails> {
    const haulerId = await this.haulerOf(hold);
    return this.reading(async (transaction) => {
      await lockHolding(transaction);
      return this.detailsOf(transaction, await this.holds.insert(transaction, haulerId, hold, by));
    });
  }

  async get(id: string): Promise<HoldDetails> {
    const row = await this.find(id);
    return this.reading((transaction) => this.detailsOf(transaction, row));
  }

  async find(id: string): Promise<HoldRow> {
    const row = await this.holds.find(id);
    if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no hold ${id}`);
    return row;
  }

  async list(query: HoldQuery): Promise<List<Hold>> {
    const { rows, pagination } = await this.holds.list(query);
    return { data: rows.map(toHoldDto), pagination };
  }

  /** 409 if it is released: the first reason stays. */
  async release(id: string, { reason, dryRun }: ReleaseHold, by: string): Promise<ReleasedHold> {
    const released = await this.database.transaction(
      async (transaction) => {
        const row = await this.holds.release(transaction, id, by, reason);
        if (row === undefined) return undefined;
        const preview = dryRun === true ? present(KeptByHold, await countHeld(transaction, row)) : undefined;
        return present(ReleasedHold, { ...shown(row), preview });
      },
      { pool: 'bulk', isDryRun: dryRun },
    );
    if (released !== undefined) return released;
    const { released_at: at } = await this.find(id);
    throw apiError(ADMIN_API, 'conflict', `the hold ${id} was released at ${at === null ? '' : formatInstant(at)}`);
  }

  /** The recordings with the ids of their active holds. */
  async marked(recordings: readonly StoredRecording[]): Promise<AdminRecording[]> {
    const holds = await this.holds.ofRecordings(recordings.map(({ id }) => id));
    return recordings.map((recording) => ({ ...recording, holdIds: holds.get(recording.id) ?? [] }));
  }

  async markedOne<Recording extends { readonly id: string }>(
    recording: Recording,
  ): Promise<Recording & Pick<AdminRecording, 'holdIds'>> {
    const holds = await this.holds.ofRecordings([recording.id]);
    return { ...recording, holdIds: holds.get(recording.id) ?? [] };
  }

  private async haulerOf({ connectionId, truckId, from, to }: CreateHold): Promise<string> {
    const violations = rangeViolations(from, to);
    const haulerId = await haulerOf(this.database, connectionId);
    if (haulerId === undefined) violations.push(unknownConnection());
    else if (!(await this.holds.knowsTruck(haulerId, connectionId, truckId))) violations.push(unknownTruck());
    if (violations.length > 0 || haulerId === undefined) throw invalid(violations);
    return haulerId;
  }

  private async detailsOf(database: Sql, row: HoldRow): Promise<HoldDetails> {
    const counts = await countHeld(database, row);
    const missing = (await findMissing(database, row, this.rowsBefore())).map((range) =>
      present(MissingFootage, range),
    );
    return present(HoldDetails, { ...shown(row), ...counts, missing });
  }

  /** Rows of recordings that began before this time may be deleted. */
  private rowsBefore(): Date | undefined {
    const days = this.env.VIDEO_ROWS_DAYS;
    return days === 0 ? undefined : new Date(Date.now() - days * 86_400_000);
  }

  /** A long range of many chunks takes longer than a request may hold a connection of the others. */
  private reading<T>(work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(work, { pool: 'bulk' });
  }
}

export function rangeViolations(from: string, to: string): Violation[] {
  if (to > from && epochMillis(to) - epochMillis(from) <= MAX_HOLD_DAYS * 86_400_000) return [];
  return [{ path: 'to', rule: 'isRange', message: `to must be after from, and at most ${MAX_HOLD_DAYS} days later` }];
}

/** A misspelt truck would hold nothing, and nobody would notice. */
const unknownTruck = (): Violation => ({
  path: 'truckId',
  rule: 'isKnown',
  message: 'truckId must be a truck of which the connection has a recording, a request or a subscription',
});

const shown = (row: HoldRow) => ({
  ...row,
  from: formatInstant(row.from),
  to: formatInstant(row.to),
  status: row.released_at === null ? 'active' : 'released',
});

const toHoldDto = (row: HoldRow): Hold => present(Hold, shown(row));
