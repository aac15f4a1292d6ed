import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What nothing ever wrote. An answer's ETag stands in `sync_states`, beside the body it belongs to and the address it came
 * from; what an answer contained last is told by the runs.
 */
export class DropUnusedColumns1763600820000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sites DROP COLUMN last_seen_at;
      ALTER TABLE kiosks DROP COLUMN last_seen_at;
      ALTER TABLE materials DROP COLUMN last_seen_at;
      ALTER TABLE connections DROP COLUMN etag`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sites ADD COLUMN last_seen_at timestamptz;
      ALTER TABLE kiosks ADD COLUMN last_seen_at timestamptz;
      ALTER TABLE materials ADD COLUMN last_seen_at timestamptz;
      ALTER TABLE connections ADD COLUMN etag text`);
  }
}
