import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The first response of each Idempotency-Key (decision 16). No foreign key to haulers: rows live for a day, and the check
 * would lock the hauler's row on the hot path.
 */
export class CreateIdempotency1795570020000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE idempotency_keys (
        hauler_id uuid NOT NULL,
        path text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        fingerprint bytea NOT NULL,
        status smallint,
        headers jsonb,
        body text,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (hauler_id, path, key)
      );
      CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE idempotency_keys');
  }
}
