import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * HTTP exchanges, with one partition per UTC day. The id begins with the time, so that a range of ids is a range of time, and the
 * primary key sorts by time.
 *
 * - `keys` has a number for each reference, of its hour and a hash: `exchange-keys.rules.ts`. PostgreSQL gathers the keys of some
 *   thousand exchanges and adds them to the index together, which takes a third of the time of a table of references with a B-tree.
 *   Readers scan what is gathered, so it must stay small.
 * - `status` is 0 without a response. `request_form` and `response_form` are bit sets: 1 base64, 2 redacted, 4 truncated.
 * - `in_revision`: the body is the text of a revision of the ticket, and is not stored again.
 * - Indexes of failures are partial, because most exchanges are successful pushes.
 * - `exchange_hours` counts exchanges by hour, so that the overview of a day reads some hundred rows. The writer of exchanges adds
 *   to it in the same transaction. Absent texts are empty, because a primary key has no nulls; `last_id` is the newest exchange.
 */
export class CreateExchanges1795570305000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE exchanges (
        id uuid PRIMARY KEY,
        hauler_id uuid,
        connection_id uuid,
        api_key_id uuid,
        replay_of uuid,
        request_bytes bigint NOT NULL,
        response_bytes bigint NOT NULL,
        duration_ms real NOT NULL,
        status smallint NOT NULL,
        request_form smallint NOT NULL,
        response_form smallint NOT NULL,
        in_revision boolean NOT NULL,
        direction text NOT NULL,
        interface text NOT NULL,
        route text,
        method text NOT NULL,
        path text NOT NULL,
        key_prefix text,
        request_id text,
        failure text,
        error_code text,
        result text,
        scenario text,
        ignored_fields text,
        refs text,
        keys integer[],
        request_headers text NOT NULL,
        request_body text,
        request_sha256 text,
        response_headers text,
        response_body text,
        response_sha256 text
      ) PARTITION BY RANGE (id);
      CREATE INDEX exchanges_hauler_idx ON exchanges (hauler_id, direction, interface, id);
      CREATE INDEX exchanges_interface_idx ON exchanges (direction, interface, id);
      CREATE INDEX exchanges_key_idx ON exchanges (api_key_id, id) WHERE api_key_id IS NOT NULL;
      CREATE INDEX exchanges_connection_idx ON exchanges (connection_id, id) WHERE connection_id IS NOT NULL;
      CREATE INDEX exchanges_request_idx ON exchanges USING hash (request_id);
      CREATE INDEX exchanges_status_idx ON exchanges (status, id) WHERE status <> 200;
      CREATE INDEX exchanges_hauler_status_idx ON exchanges (hauler_id, status, id) WHERE status <> 200;
      CREATE INDEX exchanges_code_idx ON exchanges (error_code, id) WHERE error_code IS NOT NULL;
      CREATE INDEX exchanges_hauler_code_idx ON exchanges (hauler_id, error_code, id) WHERE error_code IS NOT NULL;
      CREATE INDEX exchanges_keys_idx ON exchanges USING gin (keys) WITH (gin_pending_list_limit = 1024);

      CREATE FUNCTION exchange_day_start(day date) RETURNS text LANGUAGE sql IMMUTABLE AS $body$
        SELECT substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-0000-0000-000000000000'
          FROM (SELECT lpad(to_hex((extract(epoch FROM day::timestamp) * 1000)::bigint), 12, '0') AS hex) AS start
      $body$;
      CREATE FUNCTION create_exchange_partitions(first_day date, last_day date) RETURNS void LANGUAGE plpgsql AS $body$
      DECLARE
        day date := first_day;
        partition text;
      BEGIN
        PERFORM pg_advisory_xact_lock(4867391203);
        WHILE day <= last_day LOOP
          partition := 'exchanges_' || to_char(day, 'YYYYMMDD');
          IF to_regclass(partition) IS NULL THEN
            EXECUTE format('CREATE TABLE %I PARTITION OF exchanges FOR VALUES FROM (%L) TO (%L)', partition,
              exchange_day_start(day), exchange_day_start(day + 1));
          END IF;
          day := day + 1;
        END LOOP;
      END $body$;
      SELECT create_exchange_partitions((now() AT TIME ZONE 'UTC')::date, (now() AT TIME ZONE 'UTC')::date + 3);

      CREATE TABLE exchange_hours (
        hour timestamptz NOT NULL,
        direction text COLLATE "C" NOT NULL,
        interface text COLLATE "C" NOT NULL,
        route text COLLATE "C" NOT NULL,
        status smallint NOT NULL,
        error_code text COLLATE "C" NOT NULL,
        result text COLLATE "C" NOT NULL,
        count bigint NOT NULL,
        last_id uuid NOT NULL,
        PRIMARY KEY (hour, direction, interface, route, status, error_code, result)
      ) WITH (fillfactor = 70)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP FUNCTION create_exchange_partitions(date, date);
      DROP FUNCTION exchange_day_start(date);
      DROP TABLE exchange_hours, exchanges`);
  }
}
