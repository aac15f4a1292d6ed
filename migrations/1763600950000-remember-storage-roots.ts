import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The folders in which films have been kept: one that is empty again is a mount that is missing. */
export class RememberStorageRoots1763600950000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE storage_roots (root text PRIMARY KEY)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE storage_roots');
  }
}
