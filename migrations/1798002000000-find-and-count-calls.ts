import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * What the search looks for by something else than an id, and the filters of the action log, have an index each; they are built beside
 * older instances. The calls of connections are counted by hour, with the last that succeeded and the last that failed; earlier calls are
 * not counted. A clip request knows who made it.
 */
export class FindAndCountCalls1798002000000 extends Migration {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    const [extension] = (await queryRunner.query(
      "SELECT nspname FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE extname = 'pg_trgm'",
    )) as { nspname: string }[];
    const indexes = {
      haulers_name_idx: `haulers USING gin (lower(name) "${extension?.nspname ?? 'public'}".gin_trgm_ops)`,
      api_keys_prefix_idx: 'api_keys (prefix)',
      holds_case_idx: 'holds USING hash (case_id)',
      actions_actor_idx: 'actions (actor, at, id)',
      actions_kind_idx: "actions (split_part(resource, ':', 1), at, id)",
    };
    for (const [name, definition] of Object.entries(indexes)) {
      // What is left of an attempt that was interrupted.
      await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
      await queryRunner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
    }
    await queryRunner.query('ALTER TABLE video_requests ADD COLUMN IF NOT EXISTS created_by text');
    await queryRunner.query(`
      CREATE TABLE IF NOT EXISTS connection_hours (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        hour timestamptz NOT NULL,
        calls bigint NOT NULL,
        failed bigint NOT NULL,
        last_success_id uuid,
        last_failure_id uuid,
        PRIMARY KEY (hauler_id, connection_id, hour)
      ) WITH (fillfactor = 70)`);
  }
}
