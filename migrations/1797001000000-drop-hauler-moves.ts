import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Haulers no longer move between cells (decision 71). The keys of one that has moved away stay refused: its data is not here. */
export class DropHaulerMoves1797001000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE api_keys SET revoked_at = now()
       WHERE revoked_at IS NULL AND hauler_id IN (SELECT hauler_id FROM hauler_moves WHERE state = 'moved');
      DROP TABLE hauler_moves`);
  }
}
