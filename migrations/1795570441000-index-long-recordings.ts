import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds what began long before a time and reaches into it, without reading all recordings before. */
export class IndexLongRecordings1795570441000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX recordings_long_idx ON recordings (connection_id, truck_id, camera_id, start_time)
      WHERE end_time - start_time > interval '1 hour'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX recordings_long_idx');
  }
}
