import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** Webhook endpoints, their deliveries, and the states that were announced to them. */
export class CreateWebhooks1795640010000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE webhook_endpoints (
        id uuid PRIMARY KEY,
        hauler_id uuid CONSTRAINT webhook_endpoints_hauler_fkey REFERENCES haulers (id),
        connection_id uuid,
        key_id uuid,
        url text NOT NULL,
        topics text[] NOT NULL,
        format text NOT NULL CHECK (format IN ('standard', 'slack', 'email')),
        enabled boolean NOT NULL,
        sealed_secret text NOT NULL,
        sealed_former_secret text,
        former_secret_until timestamptz,
        disabled_reason text,
        failing_since timestamptz,
        failures integer NOT NULL DEFAULT 0,
        paused_until timestamptz,
        mailed_at timestamptz,
        dropped bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(`
      CREATE TABLE webhook_deliveries (
        id uuid PRIMARY KEY,
        endpoint_id uuid NOT NULL,
        hauler_id uuid,
        topic text NOT NULL,
        data text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
        reason text,
        response_status integer,
        response_body text,
        ended_at timestamptz,
        due_at timestamptz DEFAULT now(),
        started_at timestamptz,
        attempts integer NOT NULL DEFAULT 0,
        last_error text
      )`);
    await queryRunner.query('CREATE INDEX webhook_deliveries_endpoint_idx ON webhook_deliveries (endpoint_id, id)');
    await queryRunner.query(
      'CREATE INDEX webhook_deliveries_lane_idx ON webhook_deliveries (endpoint_id, due_at) WHERE due_at IS NOT NULL',
    );
    await queryRunner.query(`
      CREATE TABLE webhook_states (
        endpoint_id uuid NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        subject text NOT NULL,
        topic text NOT NULL,
        PRIMARY KEY (endpoint_id, subject)
      )`);
  }
}
