import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Ids of partners have up to 4,000 characters, and an entry of a B-tree 2,704 bytes. A hash index has the hash alone. */
export class IndexLongIds1795732000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX IF EXISTS video_requests_truck_idx, video_request_parts_partner_idx, video_subscriptions_truck_idx, holds_active_idx,
        erasures_truck_idx;
      CREATE INDEX video_requests_truck_idx ON video_requests USING hash (truck_id);
      CREATE INDEX video_request_parts_partner_idx ON video_request_parts USING hash (partner_request_id)
        WHERE partner_request_id IS NOT NULL;
      CREATE INDEX video_subscriptions_truck_idx ON video_subscriptions USING hash (truck_id);
      CREATE INDEX holds_active_idx ON holds USING hash (truck_id) WHERE released_at IS NULL;
      CREATE INDEX erasures_truck_idx ON erasures USING hash (truck_id) WHERE status IN ('running', 'done')`);
  }
}
