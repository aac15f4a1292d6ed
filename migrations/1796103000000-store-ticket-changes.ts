import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A revision has what its push changed. Older ones, and those of an older instance, have null: they are compared when they are read. */
export class StoreTicketChanges1796103000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE ticket_revisions ADD changes jsonb');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE ticket_revisions DROP changes');
  }
}
