import { Injectable } from '@nestjs/common';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { Database } from '../../core/database/database.js';
import type { VisionConnection } from '../client/vision-connections.repository.js';
import type { Span } from '../range.js';
import { knownChunks } from '../recordings/recordings.repository.js';
import { distinctChunks, fetchBy } from '../recordings/recording.rules.js';
import type { RecordingRow } from './download.repository.js';

/** The new links of chunks that wait for their download. */
@Injectable()
export class RelinkRepository {
  constructor(private readonly database: Database) {}

  /** The time range of the recording, extended by the waiting recordings of its truck within six hours. */
  async waitingRange(row: RecordingRow): Promise<Span> {
    const range = await this.database.only<{ start: Date | null; end: Date | null }>(
      `SELECT least(min(start_time), $3) AS start, greatest(max(end_time), $4) AS "end" FROM recordings
       WHERE hauler_id = $5 AND connection_id = $1 AND truck_id = $2 AND part_id IS NULL AND status = 'available'
         AND start_time >= $3::timestamptz - interval '6 hours' AND end_time <= $4::timestamptz + interval '6 hours'
         AND start_time < $4::timestamptz + interval '6 hours'`,
      [row.connection_id, row.truck_id, row.start_time, row.end_time, row.hauler_id],
    );
    const [start, end] = [range.start ?? row.start_time, range.end ?? row.end_time];
    // Rounded up, because a listed time has microseconds and a `Date` has milliseconds.
    return { start: start.getTime(), end: end.getTime() + 1 };
  }

  /**
   * Writes the listed links to the chunks that wait: to those without a link, whose runs may be the ones that list, and to those
   * whose link expires sooner. Adds and revives nothing, because the list is no reading of a subscription.
   */
  async writeLinks(connection: VisionConnection, listed: readonly Recording[]): Promise<void> {
    if (listed.length === 0) return;
    const chunks = distinctChunks(listed);
    const now = Date.now();
    await this.database.transaction(async (transaction) => {
      const known = [...(await knownChunks(transaction, connection, chunks)).values()];
      const links = known.flatMap(({ id, start, place }) => {
        const chunk = chunks[place];
        return chunk === undefined ? [] : [{ id, start, chunk }];
      });
      await transaction.query(
        `UPDATE recordings AS r SET link = listed.link, expires_at = listed.expires, fetch_by = listed.fetch_by,
           relinks = r.relinks + (r.link IS NULL)::integer, updated_at = now()
         FROM unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::timestamptz[], $6::timestamptz[])
           AS listed (id, start, link, expires, fetch_by)
         WHERE r.hauler_id = $1 AND r.id = listed.id AND r.start_time = listed.start AND r.status = 'available'
           AND r.deleted_at IS NULL AND (r.link IS NULL OR (r.started_at IS NULL AND r.fetch_by < listed.fetch_by))`,
        [
          connection.haulerId,
          links.map(({ id }) => id),
          links.map(({ start }) => start),
          links.map(({ chunk }) => chunk.downloadUrl),
          links.map(({ chunk }) => chunk.expiresAt ?? null),
          links.map(({ chunk }) => fetchBy(chunk.expiresAt, now)),
        ],
      );
    });
  }

  /** Whether the chunk has a link now. */
  async hasLink({ hauler_id: haulerId, id, start_time: start }: RecordingRow): Promise<boolean> {
    const rows = await this.database.query(
      `SELECT FROM recordings WHERE hauler_id = $1 AND id = $2 AND link IS NOT NULL
         AND start_time >= $3 AND start_time < $3::timestamptz + interval '1 ms'`,
      [haulerId, id, start],
    );
    return rows.length > 0;
  }
}
