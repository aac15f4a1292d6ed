import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The kinds whose list the answer of a run did not have although records of it are stored: `{ sites: { since, runs, records } }`. */
export class NoticeAbsentLists1795731000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sync_runs ADD COLUMN absent_lists jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE sync_runs DROP COLUMN absent_lists');
  }
}
