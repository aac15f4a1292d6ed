import { CONTENT_COLUMNS, JUDGED_COLUMNS } from './accepted-records.js';
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

/** Of a record `s` of the answer beside the stored one `t`: decision 34. */
const STALE = 'coalesce(s.partner_updated_at < t.partner_updated_at, false)';

/** Of a state `s` of the hauler $1: its connection was deleted, and nobody has taken over yet what came through it. */
export const ORPHANED = `
  s.hauler_id = $1
  AND NOT EXISTS (SELECT FROM connections c WHERE c.hauler_id = $1 AND c.id = s.connection_id AND c.deleted_at IS NULL)`;

/** A record that comes back is restored, however old its stamp. */
const OUTCOME = `
  CASE WHEN t.id IS NULL THEN 'created'
    WHEN s.active AND NOT t.active THEN 'restored'
    WHEN ${STALE} THEN 'stale'
    WHEN t.active AND NOT s.active THEN 'deactivated'
    WHEN s.digest <> t.digest OR s.flagged_reason IS DISTINCT FROM t.flagged_reason THEN 'updated'
    ELSE 'unchanged' END`;

/** Whether the stamp is newer than the stored one, or the first. */
const NEW_STAMP = '(s.partner_updated_at IS NOT NULL AND coalesce(s.partner_updated_at > t.partner_updated_at, true))';

export const CATALOG_SQL: Readonly<Record<Kind, CatalogSql>> = forEachKind(catalogSql);

function catalogSql(kind: Kind): CatalogSql {
  const staged = `staged_${kind}`;
  const judged = Object.keys(JUDGED_COLUMNS);
  const content = Object.keys(CONTENT_COLUMNS[kind]);
  const versioned = ['digest', 'flagged_reason', ...content];
  const absent = `
    t.hauler_id = $1 AND t.connection_id = $2 AND t.active
    AND NOT EXISTS (SELECT FROM ${staged} s WHERE s.external_id = t.external_id)`;
  return {
    stage: `
      CREATE TEMP TABLE ${staged} (${Object.entries(JUDGED_COLUMNS)
        .map(([name, type]) => `${name} ${type}`)
        .join(', ')}) ON COMMIT DROP`,
    fillStage: (rows) => `INSERT INTO ${staged} (${judged.join(', ')}) SELECT * FROM ${rows}`,
    absence: `
      SELECT count(*)::integer AS "activeBefore",
        count(*) FILTER (WHERE s.external_id IS NULL)::integer AS absent,
        count(h.external_id) FILTER (WHERE s.external_id IS NULL)::integer AS "stillAbsent"
      FROM ${kind} t
      LEFT JOIN ${staged} s ON s.external_id = t.external_id
      LEFT JOIN sync_holds h ON h.hauler_id = $1 AND h.connection_id = $2 AND h.kind = '${kind}'
        AND h.external_id = t.external_id
      WHERE t.hauler_id = $1 AND t.connection_id = $2 AND t.active`,
    judge: `
      SELECT outcome, count(*)::integer AS count, string_agg(position::text, ',') FILTER (WHERE written) AS positions
      FROM (
        SELECT s.position, o.outcome, o.outcome NOT IN ('stale', 'unchanged') OR o.outcome = 'unchanged' AND ${NEW_STAMP} AS written
        FROM ${staged} s
        LEFT JOIN ${kind} t ON t.hauler_id = $1 AND t.external_id = s.external_id
        CROSS JOIN LATERAL (SELECT ${OUTCOME} AS outcome) o
        WHERE s.position IS NOT NULL) judged
      GROUP BY outcome`,
    update: (rows) => `
      UPDATE ${kind} t SET
        ${versioned.map((column) => `${column} = CASE WHEN ${STALE} THEN t.${column} ELSE s.${column} END`).join(', ')},
        active = s.active,
        deactivated_at = CASE WHEN s.active THEN NULL ELSE coalesce(t.deactivated_at, now()) END,
        partner_updated_at = greatest(t.partner_updated_at, s.partner_updated_at),
        connection_id = CASE WHEN t.active THEN coalesce(t.connection_id, $2) ELSE $2 END,
        updated_at = CASE WHEN ${OUTCOME} = 'unchanged' THEN t.updated_at ELSE now() END
      FROM ${rows} AS s (${[...judged, ...content].join(', ')})
      WHERE t.hauler_id = $1 AND t.external_id = s.external_id`,
    insert: (rows) => `
      INSERT INTO ${kind} (hauler_id, connection_id, deactivated_at, id, external_id, active, partner_updated_at,
        ${versioned.join(', ')})
      SELECT $1, $2, CASE WHEN s.active THEN NULL ELSE now() END, s.id, s.external_id, s.active, s.partner_updated_at,
        ${versioned.map((column) => `s.${column}`).join(', ')}
      FROM ${rows} AS s (${[...judged, ...content, 'id'].join(', ')})`,
    countActive: `
      SELECT count(*)::integer AS count FROM ${kind} WHERE hauler_id = $1 AND connection_id = $2 AND active`,
    deactivateAbsent: `UPDATE ${kind} t SET ${DEACTIVATE} WHERE ${absent}`,
    holdAbsent: `
      INSERT INTO sync_holds (hauler_id, connection_id, kind, external_id)
      SELECT $1, $2, '${kind}', t.external_id FROM ${kind} t WHERE ${absent}`,
    deactivateHeld: `
      UPDATE ${kind} t SET ${DEACTIVATE} FROM sync_holds h
      WHERE h.hauler_id = $1 AND h.connection_id = $2 AND h.kind = '${kind}'
        AND t.hauler_id = $1 AND t.connection_id = $2 AND t.external_id = h.external_id AND t.active`,
    adopt: `UPDATE ${kind} SET connection_id = $2 WHERE hauler_id = $1 AND connection_id = ANY ($3::uuid[])`,
  };
}
