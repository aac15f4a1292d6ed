import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Haulers no longer move between cells (decision 71). The keys of one that has moved away stay refused: its data is not here. */
export class DropHaulerMoves1797001000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE api_keys SET revoked_at = now()
       WHERE revoked_at IS NULL AND hauler_id IN (SELECT hauler_id FROM hauler_moves WHERE state = 'moved');
      DROP TABLE hauler_moves`);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('there is no way back: restore a backup'));
  }
}
