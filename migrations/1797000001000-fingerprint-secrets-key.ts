import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Whose SECRETS_KEY has sealed the secrets of the database (decision 70). Null until the first start that stores it. */
export class FingerprintSecretsKey1797000001000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE schema_version ADD COLUMN secrets_key_fingerprint text');
  }
}
