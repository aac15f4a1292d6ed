import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An erasure has no preview that is stored and confirmed: a dry run counts, and a request erases. */
export class EraseAtOnce1795730000500 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM erasures WHERE status = 'previewed';
      ALTER TABLE erasures DROP CONSTRAINT erasures_status_check,
        ADD CONSTRAINT erasures_status_check CHECK (status IN ('running', 'done', 'stopped', 'failed')),
        DROP COLUMN code, DROP COLUMN preview, DROP COLUMN confirmed_at, DROP COLUMN confirmed_by`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE erasures DROP CONSTRAINT erasures_status_check,
        ADD CONSTRAINT erasures_status_check CHECK (status IN ('previewed', 'running', 'done', 'stopped', 'failed')),
        ADD COLUMN code text NOT NULL DEFAULT '', ADD COLUMN preview jsonb NOT NULL DEFAULT '{}',
        ADD COLUMN confirmed_at timestamptz, ADD COLUMN confirmed_by text`);
  }
}
