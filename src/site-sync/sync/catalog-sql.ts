import { JUDGED_COLUMNS } from './accepted-records.js';
import { CONTENT_COLUMNS } from './content.js';
import { forEachKind, type Kind } from './kinds.js';

/** The statements that bring one kind of records into the catalog; $1 is the hauler, $2 the connection. */
export interface CatalogSql {
  /** The temporary table of what decides about each record of the answer; `JUDGED_COLUMNS`. */
  readonly stage: string;
  readonly fillStage: (rows: string) => string;
  /** Active records of the connection, and how many of them are absent. */
  readonly absence: string;
  readonly judge: string;
  /** Of given records as a whole: `JUDGED_COLUMNS`, then `CONTENT_COLUMNS`; for `insert` an id of ours after them. */
  readonly update: (rows: string) => string;
  readonly insert: (rows: string) => string;
  readonly countActive: string;
  readonly deactivateAbsent: string;
  readonly holdAbsent: string;
  readonly deactivateHeld: string;
  readonly adopt: string;
}

const DEACTIVATE = 'active = false, deactivated_at = now(), updated_at = now()';

/** Of a record `given` of the answer beside the stored one `stored`: decision 34. */
const STALE = 'coalesce(given.partner_updated_at < stored.partner_updated_at, false)';

/** Of a `state` of the hauler $1: its connection was deleted, and nobody has taken over yet what came through it. */
export const ORPHANED = `
  state.hauler_id = $1
  AND NOT EXISTS (SELECT FROM connections WHERE hauler_id = $1 AND id = state.connection_id AND deleted_at IS NULL)`;

/** A record that comes back is restored, however old its stamp. */
const OUTCOME = `
  CASE WHEN stored.id IS NULL THEN 'created'
    WHEN given.active AND NOT stored.active THEN 'restored'
    WHEN ${STALE} THEN 'stale'
    WHEN stored.active AND NOT given.active THEN 'deactivated'
    WHEN given.digest <> stored.digest OR given.flagged_reason IS DISTINCT FROM stored.flagged_reason THEN 'updated'
    ELSE 'unchanged' END`;

/** Whether the stamp is newer than the stored one, or the first. */
const NEW_STAMP =
  '(given.partner_updated_at IS NOT NULL AND coalesce(given.partner_updated_at > stored.partner_updated_at, true))';

export const CATALOG_SQL: Readonly<Record<Kind, CatalogSql>> = forEachKind(catalogSql);

function catalogSql(kind: Kind): CatalogSql {
  const staged = `staged_${kind}`;
  const judged = Object.keys(JUDGED_COLUMNS);
  const content = Object.keys(CONTENT_COLUMNS[kind]);
  const versioned = ['digest', 'flagged_reason', ...content];
  const absent = `
    stored.hauler_id = $1 AND stored.connection_id = $2 AND stored.active
    AND NOT EXISTS (SELECT FROM ${staged} given WHERE given.external_id = stored.external_id)`;
  return {
    stage: `
      CREATE TEMP TABLE ${staged} (${Object.entries(JUDGED_COLUMNS)
        .map(([name, type]) => `${name} ${type}`)
        .join(', ')}) ON COMMIT DROP`,
    fillStage: (rows) => `INSERT INTO ${staged} (${judged.join(', ')}) SELECT * FROM ${rows}`,
    absence: `
      SELECT count(*)::integer AS "activeBefore",
        count(*) FILTER (WHERE given.external_id IS NULL)::integer AS absent,
        count(hold.external_id) FILTER (WHERE given.external_id IS NULL)::integer AS "stillAbsent"
      FROM ${kind} stored
      LEFT JOIN ${staged} given ON given.external_id = stored.external_id
      LEFT JOIN sync_holds hold ON hold.hauler_id = $1 AND hold.connection_id = $2 AND hold.kind = '${kind}'
        AND hold.external_id = stored.external_id
      WHERE stored.hauler_id = $1 AND stored.connection_id = $2 AND stored.active`,
    judge: `
      SELECT outcome, count(*)::integer AS count, string_agg(position::text, ',') FILTER (WHERE written) AS positions
      FROM (
        SELECT given.position, o.outcome, (o.outcome NOT IN ('stale', 'unchanged') OR (o.outcome = 'unchanged' AND ${NEW_STAMP})) AS written
        FROM ${staged} given
        LEFT JOIN ${kind} stored ON stored.hauler_id = $1 AND stored.external_id = given.external_id
        CROSS JOIN LATERAL (SELECT ${OUTCOME} AS outcome) o
        WHERE given.position IS NOT NULL) judged
      GROUP BY outcome`,
    update: (rows) => `
      UPDATE ${kind} stored SET
        ${versioned.map((column) => `${column} = CASE WHEN ${STALE} THEN stored.${column} ELSE given.${column} END`).join(', ')},
        active = given.active,
        deactivated_at = CASE WHEN given.active THEN NULL ELSE coalesce(stored.deactivated_at, now()) END,
        partner_updated_at = greatest(stored.partner_updated_at, given.partner_updated_at),
        connection_id = CASE WHEN stored.active THEN coalesce(stored.connection_id, $2) ELSE $2 END,
        updated_at = CASE WHEN ${OUTCOME} = 'unchanged' THEN stored.updated_at ELSE now() END
      FROM ${rows} AS given (${[...judged, ...content].join(', ')})
      WHERE stored.hauler_id = $1 AND stored.external_id = given.external_id`,
    insert: (rows) => `
      INSERT INTO ${kind} (hauler_id, connection_id, deactivated_at, id, external_id, active, partner_updated_at,
        ${versioned.join(', ')})
      SELECT $1, $2, CASE WHEN given.active THEN NULL ELSE now() END, given.id, given.external_id, given.active, given.partner_updated_at,
        ${versioned.map((column) => `given.${column}`).join(', ')}
      FROM ${rows} AS given (${[...judged, ...content, 'id'].join(', ')})`,
    countActive: `
      SELECT count(*)::integer AS count FROM ${kind} WHERE hauler_id = $1 AND connection_id = $2 AND active`,
    deactivateAbsent: `UPDATE ${kind} stored SET ${DEACTIVATE} WHERE ${absent}`,
    holdAbsent: `
      INSERT INTO sync_holds (hauler_id, connection_id, kind, external_id)
      SELECT $1, $2, '${kind}', stored.external_id FROM ${kind} stored WHERE ${absent}`,
    deactivateHeld: `
      UPDATE ${kind} stored SET ${DEACTIVATE} FROM sync_holds hold
      WHERE hold.hauler_id = $1 AND hold.connection_id = $2 AND hold.kind = '${kind}'
        AND stored.hauler_id = $1 AND stored.connection_id = $2 AND stored.external_id = hold.external_id AND stored.active`,
    adopt: `UPDATE ${kind} SET connection_id = $2 WHERE hauler_id = $1 AND connection_id = ANY ($3::uuid[])`,
  };
}
