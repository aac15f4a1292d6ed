import type { MigrationInterface, QueryRunner } from 'typeorm';

const CHUNK_KEY = 'hauler_id, connection_id, truck_id, camera_id, start_time, end_time';

/** Lets coverage be aggregated from indexes alone: the chunks' unique index has all that it needs but the status. */
export class IndexCoverage1795400600000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_chunk_key;
      CREATE UNIQUE INDEX recordings_chunk_key ON recordings (${CHUNK_KEY}) INCLUDE (status) WHERE source = 'continuous';
      CREATE INDEX recordings_clip_camera_idx ON recordings (connection_id, truck_id, camera_id, start_time)
        WHERE source = 'on-demand'`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_clip_camera_idx;
      DROP INDEX recordings_chunk_key;
      CREATE UNIQUE INDEX recordings_chunk_key ON recordings (${CHUNK_KEY}) WHERE source = 'continuous'`);
  }
}
