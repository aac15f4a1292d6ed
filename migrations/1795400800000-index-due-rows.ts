import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The next downloads of all connections: the head of the order of expiry. The metrics read the same rows. Every table of
 * due rows has an index over its leases, because each tick looks for those that have expired.
 */
export class IndexDueRows1795400800000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_waiting_idx;
      CREATE INDEX recordings_unleased_fetch_idx ON recordings (fetch_by) WHERE due_at IS NOT NULL AND leased_until IS NULL;
      CREATE INDEX connections_leased_idx ON connections (leased_until) WHERE leased_until IS NOT NULL;
      CREATE INDEX reference_video_requests_leased_idx ON reference_video_requests (leased_until)
        WHERE leased_until IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX recordings_unleased_fetch_idx, connections_leased_idx, reference_video_requests_leased_idx;
      CREATE INDEX recordings_waiting_idx ON recordings (fetch_by) WHERE due_at IS NOT NULL AND status = 'available'`);
  }
}
