import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Sessions of people who signed in at an identity provider, and people in the action log. */
export class NamePeople1795630000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    // An instance of the version before writes neither the id nor the rest.
    await queryRunner.query(`
      ALTER TABLE console_sessions
        ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
        ADD COLUMN person jsonb,
        ADD COLUMN role text,
        ADD COLUMN haulers uuid[],
        ADD CONSTRAINT console_sessions_person_check CHECK ((person IS NULL) = (role IS NULL));
      CREATE UNIQUE INDEX console_sessions_id_key ON console_sessions (id);
      ALTER TABLE actions ADD COLUMN person jsonb`);
  }
}
