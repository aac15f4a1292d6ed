import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { List } from '../contracts/admin/list.dto.js';
import type { VisionFinding, VisionFindingQuery } from '../contracts/admin/vision-finding.dto.js';
import { formatInstant } from '../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../contracts/common/pagination.dto.js';
import { countRows } from '../database/count.js';

interface FindingRow {
  readonly hauler_id: string;
  readonly connection_id: string;
  readonly path: string;
  readonly reason: string;
  readonly raw: string | null;
  /** As text, being a bigint. */
  readonly seen: string;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
}

const FOUND = `
  SELECT hauler_id, connection_id, path, reason, raw, seen, first_seen_at, last_seen_at FROM vision_findings
  WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ($2::uuid IS NULL OR connection_id = $2)
    AND ($3::timestamptz IS NULL OR first_seen_at >= $3) AND ($4::timestamptz IS NULL OR first_seen_at < $4)`;

/** What the administration reads of partners' faults. */
@Injectable()
export class FindingQueries {
  constructor(private readonly dataSource: DataSource) {}

  /** The latest first. */
  async list({ haulerId, connectionId, from, to, ...paging }: VisionFindingQuery): Promise<List<VisionFinding>> {
    const page = pageRequest(paging);
    const parameters = [haulerId ?? null, connectionId ?? null, from ?? null, to ?? null];
    const rows = await this.dataSource.query<FindingRow[]>(
      `${FOUND} ORDER BY first_seen_at DESC, connection_id, digest LIMIT ${page.pageSize} OFFSET ${page.offset}`,
      parameters,
    );
    const total = await countRows(this.dataSource, FOUND, parameters);
    return { data: rows.map(shown), pagination: paginationOf(page, total) };
  }
}

function shown(row: FindingRow): VisionFinding {
  return {
    haulerId: row.hauler_id,
    connectionId: row.connection_id,
    path: row.path,
    reason: row.reason,
    ...(row.raw === null ? {} : { raw: row.raw }),
    seen: Number(row.seen),
    firstSeenAt: formatInstant(row.first_seen_at),
    lastSeenAt: formatInstant(row.last_seen_at),
  };
}
