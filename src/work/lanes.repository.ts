import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';

/** Time after which another instance takes over the lanes of an instance that was killed or cannot reach the database. */
export const OWNED_MS = 10_000;

/** A lane that this instance owns, and since when, by the clock of the database. */
export interface OwnedLane {
  readonly lane: string;
  readonly since: string;
}

/**
 * Which instance works on which lane. All rows of a lane are worked on by its owner alone, so rows need no leases. The clock
 * is the database's, so that instances need not agree on it.
 */
export class LaneOwners {
  readonly owner = randomUUID();

  constructor(private readonly dataSource: DataSource) {}

  /** Returns the lanes that nobody owned, or whose owner has not renewed them in time. */
  claim(kind: string, lanes: readonly string[]): Promise<OwnedLane[]> {
    return this.dataSource.query(
      `INSERT INTO lanes (kind, lane, owner, since, owned_until)
       SELECT $1, lane, $2, clock_timestamp(), clock_timestamp() + $4 * interval '1 ms'
       FROM unnest($3::text[]) AS lane ORDER BY lane
       ON CONFLICT (kind, lane) DO UPDATE
         SET owner = EXCLUDED.owner, since = EXCLUDED.since, owned_until = EXCLUDED.owned_until
         WHERE lanes.owned_until <= clock_timestamp()
       RETURNING lane, since::text`,
      [kind, this.owner, lanes, OWNED_MS],
    );
  }

  /** Returns those of the lanes that this instance still owns. */
  async renew(kind: string, lanes: readonly string[]): Promise<Set<string>> {
    const [rows] = await this.dataSource.query<[{ lane: string }[], number]>(
      `UPDATE lanes SET owned_until = clock_timestamp() + $4 * interval '1 ms'
       WHERE owner = $1 AND kind = $2 AND lane = ANY ($3) RETURNING lane`,
      [this.owner, kind, lanes, OWNED_MS],
    );
    return new Set(rows.map(({ lane }) => lane));
  }

  /** Deletes the lanes, and those that a killed instance left a day ago and that had no due row since. */
  async release(kind: string, lanes: readonly string[]): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM lanes WHERE (owner = $1 AND kind = $2 AND lane = ANY ($3)) OR owned_until < now() - interval '1 day'`,
      [this.owner, kind, lanes],
    );
  }
}
