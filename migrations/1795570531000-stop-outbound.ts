import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A row says that no partner is called, on any instance: an admin has switched the calls off, or a backup was restored. */
export class StopOutbound1795570531000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE outbound_stop (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        reason text NOT NULL,
        since timestamptz NOT NULL DEFAULT now()
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE outbound_stop');
  }
}
