import type { Columns } from '../../database/sql-rows.js';

/** A material that something at a site refers to, by the partner's ids. */
export interface MaterialAtSite {
  readonly haulerId: string;
  readonly siteId: string;
  readonly materialId: string;
}

export const MATERIAL_AT_SITE = {
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  site_id: ['uuid', ({ siteId }) => siteId],
  material_id: ['uuid', ({ materialId }) => materialId],
} as const satisfies Columns<MaterialAtSite>;

/** A hauler's catalog as it was when its materials were looked at (`catalog_layouts`). */
export interface CatalogLayout {
  readonly haulerId: string;
  readonly number: number;
}

export const CATALOG_LAYOUT = {
  hauler_id: ['uuid', ({ haulerId }) => haulerId],
  number: ['integer', ({ number }) => String(number)],
} as const satisfies Columns<CatalogLayout>;

/** An expression: the layout's number of the hauler whose id `hauler` is, as of the statement. */
export const layoutOf = (hauler: string) =>
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
