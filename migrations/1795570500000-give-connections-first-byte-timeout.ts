import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Cameras of one partner wake up more slowly than those of another. NULL: VISION_FIRST_BYTE_TIMEOUT. */
export class GiveConnectionsFirstByteTimeout1795570500000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE connections ADD first_byte_timeout_seconds integer
      CONSTRAINT connections_first_byte_timeout_check CHECK (first_byte_timeout_seconds BETWEEN 1 AND 3600)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`ALTER TABLE connections DROP first_byte_timeout_seconds`);
  }
}
