import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For the list of hosted video requests in one state: failed ones are rare. */
export class IndexHostedRequests1795400800100 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'CREATE INDEX reference_video_requests_status_idx ON reference_video_requests (status, created_at, id)',
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX reference_video_requests_status_idx');
  }
}
