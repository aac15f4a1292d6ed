import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** A revision has what its push changed. Older ones, and those of an older instance, have null: they are compared when they are read. */
export class StoreTicketChanges1796103000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE ticket_revisions ADD changes jsonb');
  }
}
