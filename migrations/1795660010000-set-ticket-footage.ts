import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * Which custom field of a hauler's tickets names the truck, and where its footage is. The index finds the tickets that were
 * weighed at a time. It is a BRIN because pushes must not pay for it: tickets arrive about in the order of their flows, and
 * the multi-minmax operators keep a few late ones apart.
 */
export class SetTicketFootage1795660010000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE ticket_footage (
        hauler_id uuid PRIMARY KEY REFERENCES haulers (id),
        truck_field text NOT NULL,
        connection_id uuid NOT NULL,
        cameras text[] NOT NULL,
        updated_at timestamptz NOT NULL,
        FOREIGN KEY (hauler_id, connection_id) REFERENCES connections (hauler_id, id)
      );
      CREATE INDEX tickets_flows_idx ON tickets
        USING brin (inbound_updated_at timestamptz_minmax_multi_ops, outbound_updated_at timestamptz_minmax_multi_ops)`);
  }
}
