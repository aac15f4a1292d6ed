import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Querying } from '../../database/querying.js';
import type { CatalogOwner } from './catalog-apply.js';
import { ORPHANED } from './catalog-sql.js';
import { forEachKind, NO_KIND_COUNTS, type RunCounts } from './kinds.js';

/** The last answer that was applied as a whole and left nothing in doubt: the same answer again changes nothing. */
export interface SettledAnswer {
  /** SHA-256 of the body, in hex. */
  readonly bodyDigest: string;
  readonly etag: string | null;
  readonly counts: RunCounts;
  /** The run that has its remarks. */
  readonly runId: string;
}

/** What the next run of a connection must know of the last answer. */
@Injectable()
export class SyncStates {
  /**
   * An address that has changed is another partner as far as its answers go. While a deleted connection's records are
   * nobody's, nothing is settled: the run has to take them over.
   */
  async settled(
    database: Querying,
    { haulerId, connectionId }: CatalogOwner,
    baseUrl: string,
  ): Promise<SettledAnswer | undefined> {
    const [row] = await database.query<SettledAnswer[]>(
      `SELECT body_digest AS "bodyDigest", etag, counts, run_id AS "runId" FROM sync_states
       WHERE hauler_id = $1 AND connection_id = $2 AND base_url = $3 AND body_digest IS NOT NULL
         AND NOT EXISTS (SELECT FROM sync_states state WHERE ${ORPHANED})`,
      [haulerId, connectionId, baseUrl],
    );
    return row;
  }

  /** `answer` is undefined where the same answer would have to be judged again. */
  async save(
    manager: EntityManager,
    { haulerId, connectionId }: CatalogOwner,
    baseUrl: string,
    answer: SettledAnswer | undefined,
  ): Promise<void> {
    await manager.query(
      `INSERT INTO sync_states (hauler_id, connection_id, base_url, body_digest, etag, counts, run_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (hauler_id, connection_id) DO UPDATE SET base_url = excluded.base_url,
         body_digest = excluded.body_digest, etag = excluded.etag, counts = excluded.counts, run_id = excluded.run_id`,
      [
        haulerId,
        connectionId,
        baseUrl,
        answer?.bodyDigest ?? null,
        answer?.etag ?? null,
        answer === undefined ? null : JSON.stringify(answer.counts),
        answer?.runId ?? null,
      ],
    );
  }

  /** The answer was given again. One that was unsettled while it was on its way stays so: the next run judges it. */
  async repeat(manager: EntityManager, { haulerId, connectionId }: CatalogOwner, answer: SettledAnswer): Promise<void> {
    await manager.query(
      `UPDATE sync_states SET etag = $4, counts = $5, run_id = $6
       WHERE hauler_id = $1 AND connection_id = $2 AND body_digest = $3`,
      [haulerId, connectionId, answer.bodyDigest, answer.etag, JSON.stringify(answer.counts), answer.runId],
    );
  }

  /** How often the hauler's catalog has changed. */
  async changeNumber(database: Querying, haulerId: string): Promise<string> {
    const [row] = await database.query<{ number: string }[]>(
      'SELECT number FROM catalog_changes WHERE hauler_id = $1',
      [haulerId],
    );
    return row?.number ?? '0';
  }

  /**
   * A connection has changed the hauler's catalog, which is locked: what the others have settled, or are about to, may be
   * so no more.
   */
  async forgetAnswersOfOthers(manager: EntityManager, { haulerId, connectionId }: CatalogOwner): Promise<void> {
    await manager.query(
      `INSERT INTO catalog_changes AS changes (hauler_id, number) VALUES ($1, 1)
       ON CONFLICT (hauler_id) DO UPDATE SET number = changes.number + 1`,
      [haulerId],
    );
    await manager.query(
      `UPDATE sync_states SET body_digest = NULL, etag = NULL, counts = NULL, run_id = NULL
       WHERE hauler_id = $1 AND connection_id <> $2 AND body_digest IS NOT NULL`,
      [haulerId, connectionId],
    );
  }
}

/** The counts of a run that was given the same answer again, where nothing was stale and nothing held. */
export function repeatedCounts(counts: RunCounts): RunCounts {
  return forEachKind((kind) => {
    const { received, quarantined, flagged } = counts[kind];
    return { ...NO_KIND_COUNTS, received, quarantined, flagged, unchanged: received - quarantined };
  });
}
