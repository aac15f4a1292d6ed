import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** The kinds whose list the answer of a run did not have although records of it are stored: `{ sites: { since, runs, records } }`. */
export class NoticeAbsentLists1795731000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sync_runs ADD COLUMN absent_lists jsonb');
  }
}
