import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stored files are counted by the index of stored files, and nothing reads how long a download took. */
export class CountStoredRecordings1795742000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE stored_hours;
      ALTER TABLE recordings DROP fetch_ms`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE recordings ADD fetch_ms integer;
      CREATE TABLE stored_hours (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        hour timestamptz NOT NULL,
        recordings integer NOT NULL,
        PRIMARY KEY (hour, hauler_id, connection_id)
      ) WITH (fillfactor = 50);
      INSERT INTO stored_hours
      SELECT hauler_id, connection_id, date_trunc('hour', stored_at, 'UTC'), count(*) FROM recordings
      WHERE status = 'stored' AND stored_at >= now() - interval '2 days' GROUP BY 1, 2, 3`);
  }
}
