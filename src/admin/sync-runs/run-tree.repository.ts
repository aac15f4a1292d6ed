import { Injectable } from '@nestjs/common';
import type { ListQuery } from '../../contracts/admin/list.dto.js';
import { MAX_TREE_RECORDS } from '../../contracts/admin/sync-runs.routes.js';
import { Database } from '../../core/database/database.js';
import { type ListPage, listPage } from '../../core/database/list-page.js';
import { minUuidv7Of } from '../../core/database/uuid.js';
import type { ChangeRow } from '../../site-sync/sync/sync-changes.repository.js';

/** Of a site: a busy one has some thousand in a month. */
export const MAX_TICKETS = 1_000;

/** Stands for the site of records whose kiosk is not stored. */
export const NO_SITE = '00000000-0000-0000-0000-000000000000';

/** A run stores at most 10,000 changes of each kind and type, so that this reads a bounded number of rows. */
const CHANGED = `(
  SELECT c.*, CASE WHEN c.kind = 'sites' THEN c.external_id ELSE coalesce(
      (coalesce(c.after, c.before)->>'siteId')::uuid,
      (SELECT k.site_external_id FROM kiosks AS k
        WHERE k.hauler_id = c.hauler_id AND k.external_id = (coalesce(c.after, c.before)->>'kioskId')::uuid),
      '${NO_SITE}') END AS site_id
  FROM sync_changes AS c WHERE c.run_id = $1)`;

interface SiteRow {
  readonly site_id: string;
}

export type TreeRow = Omit<ChangeRow, 'position'> & { readonly siteId: string; readonly total: number };

interface UseRow {
  readonly site_id: string;
  readonly tickets: number;
  /** Tickets by the id of a material, as it was sent, in lower case. */
  readonly materials: Readonly<Record<string, number>> | null;
}

/** The changes of a run by site, and the tickets that use them. */
@Injectable()
export class RunTreeRepository {
  constructor(private readonly database: Database) {}

  /** The sites of a run: first those of which most would be removed. */
  sites(runId: string, query: ListQuery): Promise<ListPage<SiteRow>> {
    const sql = `SELECT site_id, held FROM (
      SELECT site_id, count(*) FILTER (WHERE change = 'held')::int AS held FROM ${CHANGED} AS changed GROUP BY site_id) AS site`;
    const list = { name: `tree ${runId}`, sql, parameters: [runId] };
    return listPage(this.database, { ...list, key: ['held', 'site_id'], order: 'DESC' }, query);
  }

  /** The site itself and its first records: what would be removed, then kiosks before materials. */
  records(runId: string, siteIds: readonly string[]): Promise<TreeRow[]> {
    return this.database.query<TreeRow>(
      `SELECT kind, change, external_id AS "externalId", name, before, after, site_id AS "siteId", total FROM (
         SELECT changed.*, row_number() OVER (site ORDER BY kind <> 'sites', change <> 'held', kind, name, position) AS number,
           (count(*) FILTER (WHERE kind <> 'sites') OVER site)::int AS total
         FROM ${CHANGED} AS changed WHERE site_id = ANY ($2::uuid[]) WINDOW site AS (PARTITION BY site_id)) AS record
       WHERE number <= ${MAX_TREE_RECORDS} ORDER BY site_id, number`,
      [runId, siteIds],
    );
  }

  async siteNames(haulerId: string, siteIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<{ id: string; name: string }>(
      'SELECT external_id AS id, name FROM sites WHERE hauler_id = $1 AND external_id = ANY ($2::uuid[])',
      [haulerId, siteIds],
    );
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /**
   * The newest tickets of each site since a time. `= ANY` and the first sort key name the index `tickets_site_idx`. The ids of
   * materials are found by pattern: stored contents may have numbers that jsonb refuses.
   */
  ticketUse(haulerId: string, siteIds: readonly string[], from: number): Promise<UseRow[]> {
    return this.database.query<UseRow>(
      `WITH used AS MATERIALIZED (
         SELECT t.* FROM unnest($2::uuid[]) AS site (id) CROSS JOIN LATERAL (
           SELECT site_id, id, materials FROM tickets
           WHERE site_id = ANY (ARRAY[site.id]) AND hauler_id = $1 AND id >= $3
           ORDER BY site_id DESC, id DESC LIMIT ${MAX_TICKETS}) AS t)
       SELECT site_id, count(*)::int AS tickets, (
         SELECT json_object_agg(material, count) FROM (
           SELECT lower(found[1]) AS material, count(DISTINCT id)::int AS count
           FROM used AS one CROSS JOIN LATERAL regexp_matches(one.materials, '"id"\\s*:\\s*"([0-9a-fA-F-]{36})"', 'g') AS found
           WHERE one.site_id = used.site_id GROUP BY 1) AS counted) AS materials
       FROM used GROUP BY site_id`,
      [haulerId, siteIds, minUuidv7Of(from)],
    );
  }
}
