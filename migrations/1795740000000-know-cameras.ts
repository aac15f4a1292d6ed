import type { QueryRunner } from 'typeorm';
import { Migration } from './migration.js';

/** The names of recordings, one step of their index for each; the names of pairs; and where both of a pair are one camera. */
export const FILL_CAMERAS = `
  WITH RECURSIVE recorded (hauler_id, connection_id, truck_id, name) AS (
    SELECT c.hauler_id, c.id, first.* FROM connections AS c, LATERAL (
      SELECT r.truck_id, r.camera_id FROM recordings AS r WHERE (r.hauler_id, r.connection_id) = (c.hauler_id, c.id)
      ORDER BY r.truck_id, r.camera_id LIMIT 1) AS first
    UNION ALL
    SELECT known.hauler_id, known.connection_id, next.* FROM recorded AS known, LATERAL (
      SELECT r.truck_id, r.camera_id FROM recordings AS r
      WHERE (r.hauler_id, r.connection_id) = (known.hauler_id, known.connection_id)
        AND (r.truck_id, r.camera_id) > (known.truck_id, known.name)
      ORDER BY r.truck_id, r.camera_id LIMIT 1) AS next)
  INSERT INTO cameras
  SELECT hauler_id, connection_id, truck_id, name, lower(btrim(name)),
    (SELECT min(r.start_time) FROM recordings AS r
      WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id) = (k.hauler_id, k.connection_id, k.truck_id, k.name)),
    (SELECT max(r.start_time) + interval '1 hour' FROM recordings AS r
      WHERE (r.hauler_id, r.connection_id, r.truck_id, r.camera_id) = (k.hauler_id, k.connection_id, k.truck_id, k.name))
  FROM recorded AS k ON CONFLICT DO NOTHING;

  INSERT INTO cameras (hauler_id, connection_id, truck_id, name, camera)
  SELECT hauler_id, connection_id, truck_id, name, lower(btrim(name))
  FROM partner_camera_names, unnest(ARRAY[requested_name, returned_name]) AS name
  ON CONFLICT DO NOTHING;

  WITH counterparts AS (
    SELECT DISTINCT hauler_id, connection_id, truck_id, one, other
    FROM partner_camera_names, LATERAL (VALUES
      (lower(btrim(requested_name)), lower(btrim(returned_name))),
      (lower(btrim(returned_name)), lower(btrim(requested_name)))) AS names (one, other)
    WHERE one <> other),
  sole AS (
    SELECT hauler_id, connection_id, truck_id, one, min(other) AS other FROM counterparts
    GROUP BY hauler_id, connection_id, truck_id, one HAVING count(*) = 1)
  UPDATE cameras AS c SET camera = least(a.one, a.other)
  FROM sole AS a JOIN sole AS b
    ON (b.hauler_id, b.connection_id, b.truck_id, b.one, b.other) = (a.hauler_id, a.connection_id, a.truck_id, a.other, a.one)
  WHERE (c.hauler_id, c.connection_id, c.truck_id, lower(btrim(c.name))) = (a.hauler_id, a.connection_id, a.truck_id, a.one)`;

/**
 * The names by which partners call the cameras of a truck, each with what all names of its camera have in common, and with the time in
 * which its recordings began. It outlives them.
 */
export class KnowCameras1795740000000 extends Migration {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE cameras (
        hauler_id uuid NOT NULL,
        connection_id uuid NOT NULL,
        truck_id text NOT NULL,
        name text NOT NULL,
        camera text NOT NULL,
        first_at timestamptz,
        last_at timestamptz,
        PRIMARY KEY (hauler_id, connection_id, truck_id, name)
      );
      ${FILL_CAMERAS}`);
  }
}
