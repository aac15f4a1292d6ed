import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Windows that were laid by are claimed by the connection too: by the subscription, the trucks of one slow partner took
 * every place of an instance. A build that names no connection may run beside this one during an update, hence the trigger.
 */
export class GroupWindowsByConnection1763600930000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // A window without its subscription has nothing to be read for.
    await queryRunner.query(`
      ALTER TABLE video_windows ADD COLUMN connection_id uuid;
      UPDATE video_windows AS w SET connection_id = s.connection_id FROM video_subscriptions AS s
        WHERE s.hauler_id = w.hauler_id AND s.id = w.subscription_id;
      DELETE FROM video_windows WHERE connection_id IS NULL;
      ALTER TABLE video_windows ALTER COLUMN connection_id SET NOT NULL;
      CREATE FUNCTION video_windows_connection() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.connection_id := (SELECT connection_id FROM video_subscriptions
            WHERE hauler_id = NEW.hauler_id AND id = NEW.subscription_id);
          RETURN NEW;
        END $$;
      CREATE TRIGGER video_windows_connection BEFORE INSERT ON video_windows
        FOR EACH ROW WHEN (NEW.connection_id IS NULL) EXECUTE FUNCTION video_windows_connection();
      DROP INDEX video_windows_group_idx;
      CREATE INDEX video_windows_group_idx ON video_windows (connection_id, due_at) WHERE due_at IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TRIGGER video_windows_connection ON video_windows;
      DROP FUNCTION video_windows_connection();
      ALTER TABLE video_windows DROP COLUMN connection_id;
      CREATE INDEX video_windows_group_idx ON video_windows (subscription_id, due_at) WHERE due_at IS NOT NULL`);
  }
}
