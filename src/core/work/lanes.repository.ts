import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Database } from '../database/database.js';
import { LoggedStatements } from './logged-statements.js';
import { RowLostError } from './run.js';

/** Time after which another instance takes over the lanes of an instance that was killed or cannot reach the database. */
export const OWNED_MS = 10_000;

const NONE: ReadonlySet<string> = new Set();

/** A lane that this instance owns. */
export interface OwnedLane {
  readonly kind: string;
  readonly name: string;
  /** By the clock of the database. A row that was started before is started again. */
  readonly since: string;
  /** Aborted with `RowLostError` when this instance no longer owns the lane. */
  readonly loss: AbortController;
}

/**
 * Which instance works on which lane. All rows of a lane are worked on by its owner alone, so rows need no leases. The clock
 * is the database's, so that instances need not agree on it.
 */
export class LaneOwners {
  readonly owner = randomUUID();
  private readonly owned = new Set<OwnedLane>();
  private renewedAt = Date.now();
  private readonly statements = new LoggedStatements(new Logger('Work'));

  constructor(private readonly database: Database) {}

  /** Returns the lanes that nobody owned, or whose owner has not renewed them in time. */
  async claim(kind: string, names: readonly string[]): Promise<OwnedLane[]> {
    const rows = await this.database.query<{ lane: string; since: string }>(
      `INSERT INTO lanes (kind, lane, owner, since, owned_until)
       SELECT $1, lane, $2, clock_timestamp(), clock_timestamp() + $4 * interval '1 ms'
       FROM unnest($3::text[]) AS lane ORDER BY lane
       ON CONFLICT (kind, lane) DO UPDATE
         SET owner = EXCLUDED.owner, since = EXCLUDED.since, owned_until = EXCLUDED.owned_until
         WHERE lanes.owned_until <= clock_timestamp()
       RETURNING lane, since::text`,
      [kind, this.owner, names, OWNED_MS],
    );
    const lanes = rows.map(({ lane, since }) => ({ kind, name: lane, since, loss: new AbortController() }));
    for (const lane of lanes) this.owned.add(lane);
    return lanes;
  }

  /** Renews the lanes of all kinds by one statement. Those that this instance no longer owns are lost. */
  async renew(): Promise<void> {
    const lanes = [...this.owned];
    const askedAt = Date.now();
    const renewed = lanes.length === 0 ? NONE : await this.statements.attempt('renew lanes', () => this.renewed(lanes));
    if (renewed !== undefined) this.renewedAt = askedAt;
    else if (Date.now() - this.renewedAt <= OWNED_MS) return;
    for (const lane of lanes) {
      if (renewed?.has(`${lane.kind} ${lane.name}`) !== true) lane.loss.abort(new RowLostError(lane.kind));
    }
  }

  /**
   * Deletes the lane, and those that a killed instance left a day ago and that had no due row since. If this fails, the lane is
   * free when its time is over, because it is not renewed any more.
   */
  async release(lane: OwnedLane): Promise<void> {
    this.owned.delete(lane);
    if (lane.loss.signal.aborted) return;
    await this.database.query(
      `DELETE FROM lanes WHERE (owner = $1 AND kind = $2 AND lane = $3) OR owned_until < now() - interval '1 day'`,
      [this.owner, lane.kind, lane.name],
    );
  }

  private async renewed(lanes: readonly OwnedLane[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ kind: string; lane: string }>(
      `UPDATE lanes SET owned_until = clock_timestamp() + $2 * interval '1 ms'
       WHERE owner = $1 AND (kind, lane) IN (SELECT * FROM unnest($3::text[], $4::text[])) RETURNING kind, lane`,
      [this.owner, OWNED_MS, lanes.map(({ kind }) => kind), lanes.map(({ name }) => name)],
    );
    return new Set(rows.map(({ kind, lane }) => `${kind} ${lane}`));
  }
}
