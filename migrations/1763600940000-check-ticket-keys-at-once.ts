import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The builds of the first two hours made the keys of tickets deferrable, and the migration that makes them was edited then.
 * `ON CONFLICT` takes none of those, so that on their databases every push failed.
 */
export class CheckTicketKeysAtOnce1763600940000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const direction of ['inbound', 'outbound']) {
      const key = `tickets_${direction}_key`;
      await queryRunner.query(`
        DO $$ BEGIN
          IF (SELECT condeferrable FROM pg_constraint WHERE conrelid = 'tickets'::regclass AND conname = '${key}') THEN
            ALTER TABLE tickets DROP CONSTRAINT ${key},
              ADD CONSTRAINT ${key} UNIQUE (hauler_id, ${direction}_number, site_id);
          END IF;
        END $$`);
    }
  }

  /** They stay: no migration before this one makes other keys any more. */
  async down(): Promise<void> {}
}
