import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `exchanges.refs` becomes an array of `kind:value` with a GIN index, in place of JSON and of numbers that were hashes by hour. Stored
 * exchanges are converted: the table is written again, about a minute for a million exchanges. A name that haulers share has a further
 * element with the hauler. The service must be stopped, because an older version cannot write to the new table.
 */
export class ListExchangeReferences1795570431000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX exchanges_keys_idx;
      CREATE FUNCTION exchange_references_of_json(refs text, hauler_id uuid) RETURNS text[] LANGUAGE sql IMMUTABLE AS $body$
        SELECT array_agg(element) FROM (
          SELECT kind || ':' || value AS element FROM json_to_recordset(refs::json) AS r (kind text, value text)
          UNION ALL
          SELECT '@' || hauler_id || ':' || kind || ':' || value
            FROM json_to_recordset(refs::json) AS r (kind text, value text)
           WHERE hauler_id IS NOT NULL AND kind IN ('truckId', 'cameraId')) AS elements
      $body$;
      ALTER TABLE exchanges DROP COLUMN keys,
        ALTER COLUMN refs TYPE text[] USING exchange_references_of_json(refs, hauler_id);
      DROP FUNCTION exchange_references_of_json(text, uuid);
      CREATE INDEX exchanges_refs_idx ON exchanges USING gin (refs) WITH (gin_pending_list_limit = 1024)`);
  }

  /** Exchanges of before are then found by their other columns only. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DROP INDEX exchanges_refs_idx;
      CREATE FUNCTION exchange_references_to_json(refs text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $body$
        SELECT json_agg(json_build_object('kind', split_part(element, ':', 1),
            'value', substr(element, strpos(element, ':') + 1)))::text
          FROM unnest(refs) AS element WHERE element NOT LIKE '@%'
      $body$;
      ALTER TABLE exchanges ADD COLUMN keys integer[],
        ALTER COLUMN refs TYPE text USING exchange_references_to_json(refs);
      DROP FUNCTION exchange_references_to_json(text[]);
      CREATE INDEX exchanges_keys_idx ON exchanges USING gin (keys) WITH (gin_pending_list_limit = 1024)`);
  }
}
