import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Exchanges that were refused, failed or have no response, by time, and by the reason of each. Both indexes are partial: most
 * exchanges succeed. The expression is that of `exchange-reason.sql.ts`.
 */
export class IndexFailedExchanges1795570524500 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX exchanges_failed_idx ON exchanges (id)
        WHERE (status >= 400 OR status = 0 OR failure IS NOT NULL);
      CREATE INDEX exchanges_reason_idx ON exchanges ((CASE
          WHEN status >= 400 THEN coalesce(substring(result from '^\\d{3} (.+)$'), error_code, failure, 'http-' || status::text)
          ELSE coalesce(failure, 'no-response') END), id)
        WHERE (status >= 400 OR status = 0 OR failure IS NOT NULL)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX exchanges_failed_idx, exchanges_reason_idx');
  }
}
