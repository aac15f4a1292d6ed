import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A download is tried until a deadline, and no longer a number of times. Its end has a code. */
export class TryDownloadsUntilDeadline1795570480000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE recordings ADD tried_since timestamptz NOT NULL DEFAULT now(), ADD reason_code text,
         DROP no_progress_attempts`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE recordings DROP tried_since, DROP reason_code, ADD no_progress_attempts integer NOT NULL DEFAULT 0`,
    );
  }
}
