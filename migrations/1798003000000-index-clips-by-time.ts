import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * The clips of a truck in a time are found without reading all that were ever requested of it. By the hash of the truck: its id may be
 * longer than an entry of a B-tree. Built without a lock; an instance of the version before does not use it.
 */
export class IndexClipsByTime1798003000000 extends Migration {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // What is left of an attempt that was interrupted.
    await queryRunner.query('DROP INDEX CONCURRENTLY IF EXISTS video_request_parts_truck_idx');
    await queryRunner.query(
      `CREATE INDEX CONCURRENTLY video_request_parts_truck_idx
         ON video_request_parts (connection_id, hashtext(truck_id), start_time, status)`,
    );
  }
}
