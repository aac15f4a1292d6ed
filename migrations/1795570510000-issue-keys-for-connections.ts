import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A key of a connection opens no interface: it reads how the platform fares with one partner, in the partner API. */
export class IssueKeysForConnections1795570510000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE api_keys
        ADD connection_id uuid,
        ADD CONSTRAINT api_keys_connection_fkey
          FOREIGN KEY (hauler_id, connection_id) REFERENCES connections (hauler_id, id),
        DROP CONSTRAINT api_keys_interfaces_check,
        ADD CONSTRAINT api_keys_interfaces_check CHECK (interfaces <@ ARRAY['scale', 'account', 'site', 'vision']
          AND (cardinality(interfaces) > 0) = (connection_id IS NULL)),
        ADD CONSTRAINT api_keys_connection_check CHECK (connection_id IS NULL OR hauler_id IS NOT NULL);
      CREATE INDEX api_keys_connection_idx ON api_keys (connection_id, created_at DESC, id DESC)
        WHERE connection_id IS NOT NULL`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM api_keys WHERE connection_id IS NOT NULL;
      ALTER TABLE api_keys
        DROP COLUMN connection_id,
        DROP CONSTRAINT IF EXISTS api_keys_interfaces_check,
        ADD CONSTRAINT api_keys_interfaces_check
          CHECK (cardinality(interfaces) > 0 AND interfaces <@ ARRAY['scale', 'account', 'site', 'vision'])`);
  }
}
