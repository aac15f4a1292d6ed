import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The folders that have held videos. If one of them is empty at start, its volume is not mounted. */
export class CreateStorage1795570100000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE storage_roots (root text PRIMARY KEY)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE storage_roots');
  }
}
