import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes for the filters of the list of video requests by truck and by status. */
export class IndexVideoRequests1795570310000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX video_requests_truck_idx ON video_requests (truck_id, id);
      CREATE INDEX video_requests_status_idx ON video_requests (status, id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX video_requests_truck_idx, video_requests_status_idx');
  }
}
