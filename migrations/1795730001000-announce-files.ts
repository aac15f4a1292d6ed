import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** The files that are being stored, and whose rows are not written yet: a repair of the storage leaves them. */
export class AnnounceFiles1795730001000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE storing_files (
        id uuid PRIMARY KEY,
        name text,
        renewed_at timestamptz NOT NULL DEFAULT now()
      )`);
  }
}
