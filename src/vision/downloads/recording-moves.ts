import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { inTransaction } from '../../database/transaction.js';
import type { Changes, Next } from '../../jobs/due-rows.js';
import type { Run } from '../../jobs/run.js';
import { PartsStore } from '../requests/parts.store.js';
import { RECORDING_STATES, type RecordingState } from './recording-states.js';
import type { RecordingRow } from './recording-row.js';

/** Moves recordings by their table, and the parts and requests that they belong to with them. */
@Injectable()
export class RecordingMoves {
  constructor(
    private readonly dataSource: DataSource,
    private readonly parts: PartsStore,
  ) {}

  /** Keeps the lease. Throws `LeaseLost`, `ForbiddenMove`. */
  async move(run: Run<RecordingRow>, row: RecordingRow, status: RecordingState, set: Changes = {}): Promise<void> {
    await this.write(row, status, (changes, manager) => run.update({ ...changes, ...set }, manager));
  }

  /** Gives the lease up. Throws `LeaseLost`, `ForbiddenMove`. */
  async finish(
    run: Run<RecordingRow>,
    row: RecordingRow,
    status: RecordingState,
    next: Next,
    set: Changes = {},
  ): Promise<void> {
    await this.write(row, status, (changes, manager) => run.finish(next, { ...changes, ...set }, manager));
  }

  private async write(
    row: RecordingRow,
    status: RecordingState,
    write: (changes: Changes, manager?: EntityManager) => Promise<void>,
  ): Promise<void> {
    if (row.status !== status) RECORDING_STATES.assertMove(row.status, status);
    const changes = { status, updated_at: new Date() };
    const { hauler_id: haulerId, part_id: partId } = row;
    if (partId === null) return write(changes);
    await inTransaction(this.dataSource, async (manager) => {
      await write(changes, manager);
      await this.parts.settle(manager, haulerId, partId);
    });
  }
}
