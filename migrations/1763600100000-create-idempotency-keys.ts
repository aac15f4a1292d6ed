import type { MigrationInterface, QueryRunner } from 'typeorm';

/** First answers of decision 16. No reference to haulers: the rows live a day, and the hot path would lock the hauler's row. */
export class CreateIdempotencyKeys1763600100000 implements MigrationInterface {
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
      )`);
    await queryRunner.query('CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE idempotency_keys');
  }
}
