import type { CatalogQuery } from '../../contracts/admin/catalog.routes.js';
import type { SqlList } from '../../core/database/list-page.js';
import type { Sql } from '../../core/database/sql.js';

/** The site and materials of one ticket, by the partner's ids in lower case. */
export interface CatalogReference {
  readonly haulerId: string;
  readonly siteId: string;
  readonly materialIds: readonly string[];
}

/** The existing sites and materials of a batch of references, inactive ones included (decision 24). */
export interface CatalogFindings {
  hasSite(haulerId: string, siteId: string): boolean;
  /** The sites that a material belongs to, directly or through its kiosk; `undefined` for an unknown material. */
  sitesOf(haulerId: string, materialId: string): ReadonlySet<string> | undefined;
}

/**
 * A condition for statements of other modules: a row `reference` with `hauler_id`, `site_id` and `material_id` names no existing
 * site, or no material of it, directly or through its kiosk (decision 24).
 */
export const IS_UNKNOWN = `
  NOT EXISTS (
    SELECT FROM sites s WHERE (s.hauler_id, s.external_id) = (reference.hauler_id, reference.site_id))
  OR NOT EXISTS (
    SELECT FROM materials m
     WHERE (m.hauler_id, m.external_id) = (reference.hauler_id, reference.material_id)
       AND (reference.site_id = ANY (m.site_ids) OR EXISTS (
             SELECT FROM kiosks k
              WHERE k.hauler_id = m.hauler_id AND k.external_id = ANY (m.kiosk_ids)
                AND k.site_external_id = reference.site_id)))`;

interface FoundRow {
  readonly hauler_id: string;
  readonly id: string;
  /** Of a material; null if the row is a site. */
  readonly site_ids: readonly string[] | null;
  readonly is_site: boolean;
}

const FIND = `
  SELECT s.hauler_id, s.external_id AS id, NULL::uuid[] AS site_ids, true AS is_site
  FROM unnest($1::uuid[], $2::uuid[]) AS reference (hauler_id, site_id)
  JOIN sites s ON s.hauler_id = reference.hauler_id AND s.external_id = reference.site_id
  UNION ALL
  SELECT m.hauler_id, m.external_id, m.site_ids || ARRAY(
      SELECT k.site_external_id FROM kiosks k WHERE k.hauler_id = m.hauler_id AND k.external_id = ANY (m.kiosk_ids)), false
  FROM unnest($3::uuid[], $4::uuid[]) AS reference (hauler_id, material_id)
  JOIN materials m ON m.hauler_id = reference.hauler_id AND m.external_id = reference.material_id`;

/** Looks up all references in one query. Records of another hauler count as unknown (decision 1). */
export async function findReferences(database: Sql, references: readonly CatalogReference[]): Promise<CatalogFindings> {
  const sites = distinct(references.map(({ haulerId, siteId }) => [haulerId, siteId]));
  const materials = distinct(
    references.flatMap(({ haulerId, materialIds }) => materialIds.map((id) => [haulerId, id] as const)),
  );
  const rows = await database.query<FoundRow>(FIND, [...sites, ...materials]);
  const knownSites = new Set(rows.filter((row) => row.is_site).map((row) => row.hauler_id + row.id));
  const sitesOfMaterials = new Map(
    rows.filter((row) => !row.is_site).map((row) => [row.hauler_id + row.id, new Set(row.site_ids)]),
  );
  return {
    hasSite: (haulerId, siteId) => knownSites.has(haulerId + siteId),
    sitesOf: (haulerId, materialId) => sitesOfMaterials.get(haulerId + materialId),
  };
}

/** The pairs as two parallel columns, each pair once. */
function distinct(pairs: readonly (readonly [string, string])[]): [string[], string[]] {
  const rows = [...new Map(pairs.map((pair) => [pair[0] + pair[1], pair])).values()];
  return [rows.map(([haulerId]) => haulerId), rows.map(([, id]) => id)];
}

const COMMON = `id, hauler_id, hauler_id AS list_hauler, connection_id, external_id, active, flagged_reason, deactivated_at, created_at,
  partner_updated_at AS "updatedAt"`;

/** Such a material shows all of its sites and kiosks (decision 33). */
export const hasSeveralParents = (material: string): string =>
  `(cardinality(${material}.site_ids) > 1 OR cardinality(${material}.kiosk_ids) > 1)`;

/** The columns of an answer. */
const RECORDS_OF = {
  sites: `SELECT ${COMMON}, name, CASE WHEN line1 IS NOT NULL THEN json_build_object('line1', line1, 'city', city, 'state', state,
      'country', country, 'zipCode', zip_code) END AS address FROM sites`,
  kiosks: `SELECT ${COMMON}, site_external_id AS site_id, name FROM kiosks`,
  materials: `SELECT ${COMMON}, site_ids[1] AS site_id, kiosk_ids[1] AS kiosk_id,
      CASE WHEN ${hasSeveralParents('materials')} THEN site_ids END AS site_ids,
      CASE WHEN ${hasSeveralParents('materials')} THEN kiosk_ids END AS kiosk_ids, material_type, measure_unit FROM materials`,
} as const;
export type CatalogKind = keyof typeof RECORDS_OF;

const FILTER = `($1::uuid IS NULL OR hauler_id = $1) AND ($2::boolean IS NULL OR active = $2)
  AND ($3::uuid IS NULL OR connection_id = $3)`;

/** UNION needs two index scans; one condition with OR would read the whole table. */
const OF_SITE = {
  sites: 'external_id = $4',
  kiosks: 'site_external_id = $4',
  materials: `id IN (
    SELECT m.id FROM materials m WHERE m.site_ids @> ARRAY[$4::uuid]
    UNION
    SELECT m.id FROM kiosks k JOIN materials m ON m.hauler_id = k.hauler_id AND m.kiosk_ids @> ARRAY[k.external_id]
    WHERE k.site_external_id = $4)`,
} as const;

/** The rows of one kind, newest first. */
export function catalogList(kind: CatalogKind, { haulerId, connectionId, active, siteId }: CatalogQuery): SqlList {
  const all = `${RECORDS_OF[kind]} WHERE ${FILTER}`;
  return {
    name: kind,
    sql: siteId === undefined ? all : `${all} AND ${OF_SITE[kind]}`,
    parameters: [haulerId ?? null, active ?? null, connectionId ?? null, ...(siteId === undefined ? [] : [siteId])],
    hasHaulers: true,
    key: ['id'],
    order: 'DESC',
  };
}

/**
 * Makes the Site connections of these haulers due now, because a ticket names a record that is not known yet (decision 24). At
 * most once a minute each, and never before a partner whose last call failed is due. A connection that is locked is left out: no push waits for it. Returns when each hauler was last
 * synchronised, null before the first time; a hauler without a Site connection is absent.
 */
export async function requestCatalog(
  session: Sql,
  haulerIds: readonly string[],
): Promise<ReadonlyMap<string, Date | null>> {
  const rows = await session.query<{ hauler_id: string; at: Date | null }>(
    `WITH due AS (
       UPDATE connections SET due_at = now() WHERE (hauler_id, id) IN (
         SELECT c.hauler_id, c.id FROM connections AS c
         WHERE c.hauler_id = ANY ($1::uuid[]) AND c.interface = 'site' AND c.deleted_at IS NULL AND c.enabled
           AND c.started_at IS NULL AND c.due_at > now() AND c.last_error IS NULL
           AND NOT EXISTS (SELECT FROM sync_runs AS r WHERE r.hauler_id = c.hauler_id AND r.connection_id = c.id
             AND r.created_at > now() - interval '1 minute')
         FOR UPDATE SKIP LOCKED))
     SELECT c.hauler_id, max(last.finished_at) AS at FROM connections AS c LEFT JOIN LATERAL (
       SELECT r.finished_at FROM sync_runs AS r
       WHERE r.hauler_id = c.hauler_id AND r.connection_id = c.id AND r.status IN ('succeeded', 'held')
       ORDER BY r.created_at DESC LIMIT 1) AS last ON true
     WHERE c.hauler_id = ANY ($1::uuid[]) AND c.interface = 'site' AND c.deleted_at IS NULL GROUP BY c.hauler_id`,
    [haulerIds],
  );
  return new Map(rows.map(({ hauler_id: haulerId, at }) => [haulerId, at]));
}

/** When the sites and materials of a hauler, or of one of its connections, were last synchronised; null before the first time. */
export async function lastSynchronisation(
  database: Sql,
  haulerId: string,
  connectionId: string | null,
): Promise<Date | null> {
  const last = await database.first<{ at: Date }>(
    `SELECT finished_at AS at FROM sync_runs WHERE hauler_id = $1 AND status IN ('succeeded', 'held')
        AND ($2::uuid IS NULL OR connection_id = $2)
      ORDER BY created_at DESC LIMIT 1`,
    [haulerId, connectionId],
  );
  return last?.at ?? null;
}
