import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * Haulers on their way to another cell. `locked`: nothing of the hauler is written here. `moved`: it was released here.
 * `imported`: it came here from another cell, and is in use. No foreign key: a row outlives its hauler, and precedes it.
 */
export class MoveHaulers1795620000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE hauler_moves (
        hauler_id uuid PRIMARY KEY,
        state text NOT NULL CONSTRAINT hauler_moves_state_check CHECK (state IN ('locked', 'moved', 'imported')),
        since timestamptz NOT NULL DEFAULT now(),
        exported_at timestamptz,
        cell text
      )`);
  }
}
