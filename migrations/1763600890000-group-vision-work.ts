import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is due is claimed by the connection, so that a slow partner holds up nobody but itself: the indexes for that. */
export class GroupVisionWork1763600890000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX video_subscriptions_group_idx ON video_subscriptions (connection_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_subscriptions_leased_idx ON video_subscriptions (leased_until) WHERE leased_until IS NOT NULL;
      CREATE INDEX video_windows_group_idx ON video_windows (subscription_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_windows_leased_idx ON video_windows (leased_until) WHERE leased_until IS NOT NULL;
      CREATE INDEX video_polls_group_idx ON video_polls (connection_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_polls_leased_idx ON video_polls (leased_until) WHERE leased_until IS NOT NULL;
      CREATE INDEX video_request_parts_group_idx ON video_request_parts (connection_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX video_request_parts_leased_idx ON video_request_parts (leased_until) WHERE leased_until IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX video_subscriptions_group_idx, video_subscriptions_leased_idx, video_windows_group_idx,
        video_windows_leased_idx, video_polls_group_idx, video_polls_leased_idx, video_request_parts_group_idx,
        video_request_parts_leased_idx`);
  }
}
