/** A material that something at a site refers to, by the partner's ids. */
export const MATERIAL_AT_SITE = { hauler_id: 'uuid', site_id: 'uuid', material_id: 'uuid' } as const;

/** A hauler's catalog as it was when its materials were looked at (`catalog_layouts`). */
export const CATALOG_LAYOUT = { hauler_id: 'uuid', number: 'integer' } as const;

const layoutOf = (hauler: string) =>
  `coalesce((SELECT number FROM catalog_layouts layout WHERE layout.hauler_id = ${hauler}), 0)`;

/**
 * A condition for other rooms' statements: each of the rows of `asked` (`MATERIAL_AT_SITE`) names a material of an existing
 * site (decision 24), directly or through its kiosk.
 */
export const allRight = (asked: string) => `
  NOT EXISTS (
    SELECT FROM ${asked} AS asked
     WHERE NOT EXISTS (
             SELECT FROM sites s WHERE (s.hauler_id, s.external_id) = (asked.hauler_id, asked.site_id))
        OR NOT EXISTS (
             SELECT FROM materials m
              WHERE (m.hauler_id, m.external_id) = (asked.hauler_id, asked.material_id)
                AND (m.site_external_id = asked.site_id OR EXISTS (
                      SELECT FROM kiosks k
                       WHERE (k.hauler_id, k.external_id) = (m.hauler_id, m.kiosk_external_id)
                         AND k.site_external_id = asked.site_id))))`;

/** A condition likewise: nothing has moved or vanished since the catalogs of `asked` (`CATALOG_LAYOUT`) were looked at. */
export const allUnmoved = (asked: string) =>
  `NOT EXISTS (SELECT FROM ${asked} AS asked WHERE asked.number <> ${layoutOf('asked.hauler_id')})`;

/** An expression: the layout of each hauler of `asked`, by id, as of this statement. */
export const layouts = (asked: string) => `
  (SELECT json_object_agg(hauler_id, ${layoutOf('haulers.hauler_id')}) FROM (SELECT DISTINCT hauler_id FROM ${asked} AS asked) AS haulers)`;
