import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';
import { ACTIVE } from './run-states.js';

const KEPT_FOR = '30 days';
const EVERY_MS = 60_000;
/** Rows of one statement. */
const BATCH = 1000;

/** Keeps the list of runs true and of bounded length. Several instances may do it at once. */
@Injectable()
export class SyncRetention {
  constructor(private readonly dataSource: DataSource) {}

  @Interval('synchronisation runs', EVERY_MS)
  async sweep(): Promise<void> {
    await this.endAbandoned();
    await this.removeOld();
  }

  /** Nobody will ever take up a run whose connection was deleted, or paused while its instance was killed. */
  private async endAbandoned(): Promise<void> {
    await this.dataSource.query(
      `UPDATE sync_runs r SET status = 'failed', finished_at = now(),
         error = 'The connection was paused or deleted before the run had ended.'
       WHERE ${ACTIVE} AND NOT EXISTS (
         SELECT FROM connections c
         WHERE c.hauler_id = r.hauler_id AND c.id = r.connection_id AND c.deleted_at IS NULL AND c.due_at IS NOT NULL
           AND (c.enabled OR c.run_requested_at IS NOT NULL OR c.leased_until > now()))`,
    );
  }

  /** A held run stays while it can be confirmed, as the newest of its connection; so does one that the next run may refer to. */
  private async removeOld(): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM sync_runs WHERE (hauler_id, id) IN (
         SELECT r.hauler_id, r.id FROM sync_runs r
         WHERE r.created_at < now() - interval '${KEPT_FOR}'
           AND (r.status <> 'held' OR EXISTS (
             SELECT FROM sync_runs n
             WHERE n.connection_id = r.connection_id AND (n.created_at, n.id) > (r.created_at, r.id)))
           AND NOT EXISTS (SELECT FROM sync_states s WHERE s.hauler_id = r.hauler_id AND s.run_id = r.id)
         ORDER BY r.created_at LIMIT ${BATCH})`,
    );
  }
}
