import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/**
 * Revisions of tickets have one partition per month of their ticket's id, which contains the time at which it was received first. So a
 * ticket has all its revisions in one partition, and the number of a revision stays unique. The service creates the partitions ahead;
 * ids of other times are in the partition of the rest. The function for partitions of exchanges is not needed any more.
 */
export class PartitionTicketRevisions1795610000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE ticket_revisions RENAME TO unpartitioned_revisions;
      ALTER TABLE unpartitioned_revisions RENAME CONSTRAINT ticket_revisions_pkey TO unpartitioned_revisions_pkey;
      CREATE TABLE ticket_revisions (LIKE unpartitioned_revisions INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)
        PARTITION BY RANGE (ticket_id);
      CREATE TABLE ticket_revisions_rest PARTITION OF ticket_revisions DEFAULT;
      CREATE FUNCTION pg_temp.month_start(month timestamp) RETURNS text LANGUAGE sql IMMUTABLE AS $body$
        SELECT substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-0000-0000-000000000000'
          FROM (SELECT lpad(to_hex((extract(epoch FROM month) * 1000)::bigint), 12, '0') AS hex) AS start
      $body$;
      DO $body$
      DECLARE
        this_month timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
        month timestamp;
      BEGIN
        FOR month IN SELECT m FROM generate_series(this_month - interval '120 months', this_month + interval '2 months', interval '1 month') AS m
          WHERE m >= this_month OR EXISTS (SELECT FROM unpartitioned_revisions
            WHERE ticket_id >= pg_temp.month_start(m)::uuid AND ticket_id < pg_temp.month_start(m + interval '1 month')::uuid)
        LOOP
          EXECUTE format('CREATE TABLE %I PARTITION OF ticket_revisions FOR VALUES FROM (%L) TO (%L)',
            'ticket_revisions_' || to_char(month, 'YYYYMM'), pg_temp.month_start(month),
            pg_temp.month_start(month + interval '1 month'));
        END LOOP;
      END $body$;
      INSERT INTO ticket_revisions SELECT * FROM unpartitioned_revisions;
      DROP TABLE unpartitioned_revisions;
      ALTER TABLE ticket_revisions ADD CONSTRAINT ticket_revisions_pkey PRIMARY KEY (hauler_id, ticket_id, revision);
      DROP FUNCTION pg_temp.month_start(timestamp);
      DROP FUNCTION IF EXISTS create_exchange_partitions(date, date);
      DROP FUNCTION IF EXISTS exchange_day_start(date)`);
  }
}
