import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For lists and periodic statements that read a large table from end to end. */
export class IndexLargeTables1795400600200 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX video_request_parts_partner_idx ON video_request_parts (connection_id, partner_request_id)
        WHERE partner_request_id IS NOT NULL;
      CREATE INDEX recordings_due_idx ON recordings (due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX recordings_waiting_idx ON recordings (fetch_by) WHERE due_at IS NOT NULL AND status = 'available';
      CREATE INDEX vision_findings_seen_idx ON vision_findings (first_seen_at DESC, connection_id, digest);
      CREATE INDEX vision_findings_connection_idx ON vision_findings (connection_id, first_seen_at DESC, digest)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX video_request_parts_partner_idx, recordings_due_idx, recordings_waiting_idx, vision_findings_seen_idx,
        vision_findings_connection_idx`);
  }
}
