import { Injectable } from '@nestjs/common';
import type { Querying } from '../../database/querying.js';

/** What one ticket refers to, by the partner's ids, in lower case. */
export interface CatalogLookup {
  readonly haulerId: string;
  readonly siteId: string;
  readonly materialIds: readonly string[];
}

/** What is known of the things that a batch of lookups named; inactive ones too (decision 24). */
export interface CatalogFindings {
  hasSite(haulerId: string, siteId: string): boolean;
  /** The sites that a material belongs to, directly or through its kiosk; `undefined` for an unknown material. */
  sitesOf(haulerId: string, materialId: string): ReadonlySet<string> | undefined;
}

interface FoundRow {
  readonly hauler_id: string;
  readonly id: string;
  /** Of a material; null where the row is a site. */
  readonly site_id: string | null;
  readonly kiosk_site_id: string | null;
  readonly is_site: boolean;
}

const FIND = `
  SELECT s.hauler_id, s.external_id AS id, NULL::uuid AS site_id, NULL::uuid AS kiosk_site_id, true AS is_site
  FROM unnest($1::uuid[], $2::uuid[]) AS asked (hauler_id, site_id)
  JOIN sites s ON s.hauler_id = asked.hauler_id AND s.external_id = asked.site_id
  UNION ALL
  SELECT m.hauler_id, m.external_id, m.site_external_id, k.site_external_id, false
  FROM unnest($3::uuid[], $4::uuid[]) AS asked (hauler_id, material_id)
  JOIN materials m ON m.hauler_id = asked.hauler_id AND m.external_id = asked.material_id
  LEFT JOIN kiosks k ON k.hauler_id = m.hauler_id AND k.external_id = m.kiosk_external_id`;

/** Reads the catalog of sites, kiosks and materials, for whoever must know whether an id of a partner exists. */
@Injectable()
export class CatalogService {
  /** Everything that the lookups name, in one query; what another hauler owns does not exist (decision 1). */
  async resolve(database: Querying, lookups: readonly CatalogLookup[]): Promise<CatalogFindings> {
    const sites = distinct(lookups.map(({ haulerId, siteId }) => [haulerId, siteId]));
    const materials = distinct(
      lookups.flatMap(({ haulerId, materialIds }) => materialIds.map((id) => [haulerId, id] as const)),
    );
    return new Findings(await database.query<FoundRow[]>(FIND, [...sites, ...materials]));
  }
}

class Findings implements CatalogFindings {
  private readonly sites = new Set<string>();
  private readonly materials = new Map<string, ReadonlySet<string>>();

  constructor(rows: readonly FoundRow[]) {
    for (const row of rows) {
      const key = row.hauler_id + row.id;
      if (row.is_site) this.sites.add(key);
      else this.materials.set(key, new Set([row.site_id, row.kiosk_site_id].filter((id) => id !== null)));
    }
  }

  hasSite(haulerId: string, siteId: string): boolean {
    return this.sites.has(haulerId + siteId);
  }

  sitesOf(haulerId: string, materialId: string): ReadonlySet<string> | undefined {
    return this.materials.get(haulerId + materialId);
  }
}

/** The pairs as two parallel columns, each pair once. */
function distinct(pairs: readonly (readonly [string, string])[]): [string[], string[]] {
  const seen = new Map(pairs.map((pair) => [pair[0] + pair[1], pair]));
  const rows = [...seen.values()];
  return [rows.map(([haulerId]) => haulerId), rows.map(([, id]) => id)];
}
