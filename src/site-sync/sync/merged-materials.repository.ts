import type { Sql } from '../../core/database/sql.js';
import type { CatalogKey } from './sync-runs.repository.js';

/** Valid materials whose id the answer has more than once. */
const REPEATED = `(SELECT external_id FROM staged WHERE kind = 'materials' AND fault IS NULL
  GROUP BY external_id HAVING count(*) > 1)`;

const MALFORMED = `(SELECT external_id FROM staged WHERE kind = 'materials' AND fault IS NOT NULL AND NOT merged)`;

const HAS_OTHER_SITES = `EXISTS (
  SELECT FROM sites AS other WHERE other.hauler_id = $1 AND other.connection_id <> $2 AND other.active)`;

/** The parents of a stored material, one a row. */
const STORED_PARENTS = `
  SELECT id, NULL::uuid FROM unnest(stored.site_ids) AS id UNION ALL SELECT NULL, id FROM unnest(stored.kiosk_ids) AS id`;

const isOfAnotherConnection = (table: 'sites' | 'kiosks', id: string) =>
  `EXISTS (SELECT FROM ${table} AS p WHERE p.hauler_id = $1 AND p.external_id = ${id} AND p.active AND p.connection_id <> $2)`;

/**
 * Materials that an answer lists under several sites or kiosks become one record with several parents (decision 33). Of others
 * with the same id the first valid one counts. The parents are sorted, so the order of the list does not matter. Call it when
 * the parents of materials are checked.
 *
 * Stored parents stay where the answer states nothing about them: sites and kiosks of another connection of the hauler, and all
 * parents of a material with a malformed element.
 */
export async function mergeMaterials(transaction: Sql, { haulerId, connectionId }: CatalogKey): Promise<void> {
  const parameters = [haulerId, connectionId];
  const found = await transaction.first<{ repeats: boolean; keeps: boolean }>(
    `SELECT EXISTS ${REPEATED} AS repeats, EXISTS ${MALFORMED} OR ${HAS_OTHER_SITES} AS keeps`,
    parameters,
  );
  // Most answers have nothing to merge.
  if (found?.repeats !== true && found?.keeps !== true) return;
  await quarantineRepeated(transaction);
  await transaction.query(
    `WITH kept AS MATERIALIZED (
       SELECT stored.external_id, parent.site, parent.kiosk
       FROM materials AS stored CROSS JOIN LATERAL (${STORED_PARENTS}) AS parent (site, kiosk)
       WHERE stored.hauler_id = $1 AND stored.external_id IN ${MALFORMED}
       UNION ALL
       SELECT stored.external_id, parent.site, parent.kiosk
       FROM materials AS stored CROSS JOIN LATERAL (${STORED_PARENTS}) AS parent (site, kiosk)
       WHERE stored.hauler_id = $1
         AND ${HAS_OTHER_SITES}
         AND (${isOfAnotherConnection('sites', 'parent.site')} OR ${isOfAnotherConnection('kiosks', 'parent.kiosk')})
     ), listed AS (
       SELECT external_id, site_ids[1] AS site, kiosk_ids[1] AS kiosk, position, active, partner_updated_at, flagged_reason
       FROM staged WHERE kind = 'materials' AND fault IS NULL
         AND (external_id IN ${REPEATED} OR external_id IN (SELECT external_id FROM kept))
       UNION ALL
       SELECT external_id, site, kiosk, NULL, NULL, NULL, NULL FROM kept
     ), grouped AS (
       SELECT external_id, min(position) AS head, bool_or(active) AS active, max(partner_updated_at) AS newest,
         min(partner_updated_at) AS oldest, min(flagged_reason) AS flagged_reason,
         array_agg(DISTINCT site ORDER BY site) FILTER (WHERE site IS NOT NULL) AS site_ids,
         array_agg(DISTINCT kiosk ORDER BY kiosk) FILTER (WHERE kiosk IS NOT NULL) AS kiosk_ids
       FROM listed GROUP BY external_id HAVING min(position) IS NOT NULL
     )
     UPDATE staged AS given SET site_ids = g.site_ids, kiosk_ids = g.kiosk_ids, active = g.active,
       partner_updated_at = g.newest, oldest_updated_at = g.oldest, flagged_reason = g.flagged_reason
     FROM grouped AS g
     WHERE given.kind = 'materials' AND given.fault IS NULL AND given.external_id = g.external_id AND given.position = g.head`,
    parameters,
  );
  await transaction.query(
    `UPDATE staged AS given SET merged = true FROM (
       SELECT external_id, min(position) AS head FROM staged
       WHERE kind = 'materials' AND fault IS NULL AND external_id IN ${REPEATED} GROUP BY external_id) AS repeated
     WHERE given.kind = 'materials' AND given.fault IS NULL AND given.external_id = repeated.external_id
       AND given.position > repeated.head`,
  );
}

/** An element with another type or unit than the first one, or with its parents again, is no further parent. */
async function quarantineRepeated(transaction: Sql): Promise<void> {
  await transaction.query(
    `UPDATE staged AS given SET fault_path = 'materials[' || given.position || '].id', rule = 'isUnique', merged = NOT differs,
       fault = 'materials[' || given.position || '].id is the id of an earlier element'
         || CASE WHEN differs THEN ', which has another materialType or measureUnit' ELSE ' with the same parents' END
     FROM (
       SELECT position, (material_type, measure_unit) IS DISTINCT FROM (first_value(material_type) OVER same,
           first_value(measure_unit) OVER same) AS differs,
         row_number() OVER (PARTITION BY external_id, material_type, measure_unit, site_ids, kiosk_ids
           ORDER BY position) AS number
       FROM staged WHERE kind = 'materials' AND fault IS NULL AND external_id IN ${REPEATED}
       WINDOW same AS (PARTITION BY external_id ORDER BY position)) AS repeated
     WHERE given.kind = 'materials' AND given.position = repeated.position AND (differs OR number > 1)`,
  );
}
