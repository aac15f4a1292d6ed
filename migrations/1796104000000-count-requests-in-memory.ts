import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Each instance counts the requests of keys alone. An older instance beside it then does the same, and logs a warning. */
export class CountRequestsInMemory1796104000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE IF EXISTS request_counts');
  }
}
