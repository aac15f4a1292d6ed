import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { QuarantinedRecord, SyncRun, SyncRunQuery } from '../../contracts/admin/sync-run.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { type PageQuery, pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { countRows } from '../../database/count.js';
import { apiError } from '../../errors/app-error.js';
import type { RunCounts } from './kinds.js';
import type { RunStatus } from './run-states.js';

interface RunRow {
  readonly id: string;
  readonly connection_id: string;
  readonly status: RunStatus;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly error: string | null;
  readonly counts: RunCounts;
}

type RemarkRow = Omit<QuarantinedRecord, 'raw'> & { readonly raw: string };

const COLUMNS = 'id, connection_id, status, started_at, finished_at, error, counts';
const FILTER = '($1::uuid IS NULL OR connection_id = $1) AND ($2::text IS NULL OR status = $2)';

/** What the administration reads of runs. */
@Injectable()
export class SyncRunQueries {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first. */
  async list(query: SyncRunQuery): Promise<List<SyncRun>> {
    const page = pageRequest(query);
    const filter = [query.connectionId ?? null, query.status ?? null];
    const rows = await this.dataSource.query<RunRow[]>(
      `SELECT ${COLUMNS} FROM sync_runs WHERE ${FILTER} ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`,
      [...filter, page.pageSize, page.offset],
    );
    const total = await countRows(this.dataSource, `SELECT FROM sync_runs WHERE ${FILTER}`, filter);
    return { data: rows.map(shownRun), pagination: paginationOf(page, total) };
  }

  async get(id: string): Promise<SyncRun> {
    const [row] = await this.dataSource.query<RunRow[]>(`SELECT ${COLUMNS} FROM sync_runs WHERE id = $1`, [id]);
    if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no synchronisation run ${id}`);
    return shownRun(row);
  }

  /** In the order of the answer, kind by kind. */
  async quarantine(id: string, query: PageQuery): Promise<List<QuarantinedRecord>> {
    await this.get(id);
    const page = pageRequest(query);
    const rows = await this.dataSource.query<RemarkRow[]>(
      `SELECT severity, kind, path, reason, raw FROM sync_remarks WHERE run_id = $1 ORDER BY position LIMIT $2 OFFSET $3`,
      [id, page.pageSize, page.offset],
    );
    const total = await countRows(this.dataSource, 'SELECT FROM sync_remarks WHERE run_id = $1', [id]);
    return { data: rows.map((row) => ({ ...row, raw: rawOf(row.raw) })), pagination: paginationOf(page, total) };
  }
}

function shownRun(row: RunRow): SyncRun {
  return {
    id: row.id,
    connectionId: row.connection_id,
    status: row.status,
    startedAt: row.started_at && formatInstant(row.started_at),
    finishedAt: row.finished_at && formatInstant(row.finished_at),
    ...(row.error === null ? {} : { error: row.error }),
    counts: row.counts,
  };
}

/** What was cut off is no JSON any more, and is shown as the text that it is. */
function rawOf(raw: string): unknown {
  try {
    return JSON.parse(raw) as unknown;
  } catch {
    return raw;
  }
}
