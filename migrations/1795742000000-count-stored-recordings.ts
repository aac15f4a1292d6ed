import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Nothing reads how long a download took. Builds between 0.2.0 and this one counted stored files by the hour. */
export class CountStoredRecordings1795742000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP TABLE IF EXISTS stored_hours;
      ALTER TABLE recordings DROP fetch_ms`);
  }
}
