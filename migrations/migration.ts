import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A change of the schema. It goes forward only: nothing runs `down`, which TypeORM asks for. */
export abstract class Migration implements MigrationInterface {
  abstract up(queryRunner: QueryRunner): Promise<void>;

  down(): Promise<void> {
    return Promise.reject(new Error('a migration goes forward only: restore a backup from before the upgrade'));
  }
}
