import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

const HOUR_MS = 3_600_000;
/** A download that finishes at the end of an hour is committed within this time. */
const SETTLED_MS = 60_000;

/** Stored recordings by the hour of their download. It counts a past hour once, because that hour does not grow any more. */
@Injectable()
export class StoredHours {
  private readonly past = new Map<number, number>();

  constructor(private readonly dataSource: DataSource) {}

  /** The number of each whole hour from `from` until now, by its start in milliseconds since the epoch. */
  async counts(from: Date, now: number = Date.now()): Promise<ReadonlyMap<number, number>> {
    const first = from.getTime();
    for (const hour of this.past.keys()) if (hour < first) this.past.delete(hour);
    let start = first;
    while (this.past.has(start)) start += HOUR_MS;
    const rows = await this.dataSource.query<{ hour: Date; count: number }[]>(
      `SELECT date_trunc('hour', stored_at, 'UTC') AS hour, count(*)::float8 AS count
       FROM recordings WHERE status = 'stored' AND stored_at >= $1 GROUP BY 1`,
      [new Date(start)],
    );
    const counted = new Map(rows.map(({ hour, count }) => [hour.getTime(), count]));
    for (let hour = start; hour + HOUR_MS + SETTLED_MS < now; hour += HOUR_MS) {
      this.past.set(hour, counted.get(hour) ?? 0);
    }
    return new Map([...this.past, ...counted]);
  }
}
