import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Each quarantined or flagged record has the code of its rule, and a run counts all of them by rule. The codes of stored records
 * are read once from the only texts that earlier versions wrote for them; their runs have no counts by rule.
 */
export class GroupRefusedRecords1795570521000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sync_runs ADD refusals jsonb;
      ALTER TABLE sync_issues ADD rule text;
      UPDATE sync_issues SET rule = CASE
        WHEN severity = 'flagged' AND path LIKE '%.updatedAt' THEN 'isInstant'
        WHEN severity = 'flagged' THEN 'kioskOfSite'
        WHEN reason LIKE '%has neither a siteId nor a kioskId%' THEN 'hasParent'
        WHEN reason LIKE '%is the id of an earlier element%' THEN 'isUnique'
        WHEN reason LIKE '%is not the id of a known%' THEN 'isKnown' END`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE sync_issues DROP COLUMN rule;
      ALTER TABLE sync_runs DROP COLUMN refusals`);
  }
}
