import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sign-ins to the console: with a token of the admin API, or with the key of a partner. */
export class CreateConsoleSessions1795570430000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    // Neither the cookie nor the token is stored: a dump of the database opens nothing.
    await queryRunner.query(`
      CREATE TABLE console_sessions (
        cookie_hash bytea PRIMARY KEY,
        token_mac bytea,
        key_id uuid REFERENCES api_keys (id) ON DELETE CASCADE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        CONSTRAINT console_sessions_secret_check CHECK ((token_mac IS NULL) <> (key_id IS NULL))
      );
      CREATE INDEX console_sessions_expires_idx ON console_sessions (expires_at);
      CREATE INDEX console_sessions_key_idx ON console_sessions (key_id)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE console_sessions');
  }
}
