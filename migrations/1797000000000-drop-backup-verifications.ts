import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Backups are made and proven by PostgreSQL's own tools (decision 70), so that nothing records a verification. */
export class DropBackupVerifications1797000000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE backup_verifications');
    await queryRunner.query(`DELETE FROM webhook_endpoints WHERE topics = ARRAY['backup.unverified']`);
    await queryRunner.query(
      `UPDATE webhook_endpoints SET topics = array_remove(topics, 'backup.unverified') WHERE 'backup.unverified' = ANY (topics)`,
    );
    await queryRunner.query(`DELETE FROM webhook_states WHERE subject = 'backup:'`);
  }
}
