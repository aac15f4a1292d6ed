import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { inTransaction } from '../../database/transaction.js';
import type { Next } from '../../jobs/due-rows.js';
import { JobsService } from '../../jobs/jobs.service.js';
import type { Run } from '../../jobs/run.js';
import { VisionConnections } from '../vision-connections.js';
import { PAUSED_MS } from './windows.js';
import { type Watched, WindowReader } from './window-reader.js';

export const WINDOWS = 'vision windows';

interface WindowRow {
  readonly hauler_id: string;
  readonly id: string;
  readonly subscription_id: string;
  readonly start_time: Date;
  readonly end_time: Date;
}

type Subscription = Watched & { readonly connection_id: string; readonly enabled: boolean };

/** Tries the windows again that could not be read in their turn, until they can. */
@Injectable()
export class WindowWork implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: JobsService,
    private readonly connections: VisionConnections,
    private readonly reader: WindowReader,
  ) {}

  onModuleInit(): void {
    this.jobs.register<WindowRow>({
      name: WINDOWS,
      table: 'video_windows',
      key: { hauler_id: 'uuid', id: 'uuid' },
      columns: ['subscription_id', 'start_time', 'end_time'],
      group: { by: 'connection_id', concurrency: 2 },
      concurrency: 8,
      backoff: { firstMs: 60_000, factor: 2, maxMs: 3_600_000, jitter: 0.2 },
      run: (run) => this.read(run),
    });
  }

  private async read(run: Run<WindowRow>): Promise<Next> {
    const { hauler_id, id, subscription_id, start_time, end_time } = run.row;
    const [watched] = await this.dataSource.query<Subscription[]>(
      `SELECT connection_id, enabled, truck_id, camera_id FROM video_subscriptions
       WHERE hauler_id = $1 AND id = $2 AND deleted_at IS NULL`,
      [hauler_id, subscription_id],
    );
    if (watched !== undefined) {
      const connection = await this.connections.find(watched.connection_id);
      if (connection === undefined) {
        // The row stays: what nobody has read is a hole in the coverage.
        await run.finish('done', { reason: 'The connection was deleted.' });
        return 'done';
      }
      if (!connection.enabled || !watched.enabled) return { afterMs: PAUSED_MS };
      const window = { start: start_time.getTime(), end: end_time.getTime() };
      await this.reader.read(connection, watched, window, run.signal);
    }
    await inTransaction(this.dataSource, async (manager) => {
      await run.hold(manager);
      await manager.query('DELETE FROM video_windows WHERE hauler_id = $1 AND id = $2', [hauler_id, id]);
    });
    return 'done';
  }
}
