import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** The ID token of a person's session, by which the identity provider knows the session to end at a sign-out. */
export class KeepIdTokens1795720000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE console_sessions ADD COLUMN id_token text');
  }
}
