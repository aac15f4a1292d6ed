import { Injectable } from '@nestjs/common';
import { DataSource, In } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { RecordingQuery, StoredRecording } from '../../contracts/admin/recording.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { countRows } from '../../database/count.js';
import { apiError } from '../../errors/app-error.js';
import { RecordingEntity } from './recording.entity.js';

/** What the administration reads of recordings. */
@Injectable()
export class RecordingQueries {
  constructor(private readonly dataSource: DataSource) {}

  /** The latest start first. */
  async list(query: RecordingQuery): Promise<List<StoredRecording>> {
    const page = pageRequest(query);
    const { sql, parameters } = filterOf(query);
    const total = await countRows(this.dataSource, `SELECT 1 FROM recordings ${sql}`, parameters);
    const ids = await this.dataSource.query<{ id: string }[]>(
      `SELECT id FROM recordings ${sql} ORDER BY start_time DESC, id DESC LIMIT ${page.pageSize} OFFSET ${page.offset}`,
      [...parameters],
    );
    const rows = await this.dataSource.manager.find(RecordingEntity, {
      where: { id: In(ids.map(({ id }) => id)) },
      order: { startTime: 'DESC', id: 'DESC' },
    });
    return { data: rows.map(shownRecording), pagination: paginationOf(page, total) };
  }

  async get(id: string): Promise<StoredRecording> {
    return shownRecording(await this.find(id));
  }

  /** Size and sum of a stored one, for its bytes; 404 where there is none, or no file. */
  async file(id: string): Promise<{ readonly size: number; readonly sha256: string }> {
    const { status, sizeBytes, sha256 } = await this.find(id);
    if (status !== 'stored' || sizeBytes === null || sha256 === null) {
      throw apiError(ADMIN_API, 'notFound', `the recording ${id} is not stored, it is ${status}`);
    }
    return { size: Number(sizeBytes), sha256 };
  }

  private async find(id: string): Promise<RecordingEntity> {
    const row = await this.dataSource.manager.findOneBy(RecordingEntity, { id });
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no recording ${id}`);
    return row;
  }
}

function filterOf(query: RecordingQuery): { sql: string; parameters: readonly unknown[] } {
  const parameters: unknown[] = [];
  const conditions: string[] = [];
  const add = (condition: string, value: unknown) => {
    if (value !== undefined) conditions.push(`${condition} $${parameters.push(value)}`);
  };
  add('connection_id =', query.connectionId);
  add('truck_id =', query.truckId);
  add('camera_id =', query.cameraId);
  add('source =', query.source);
  add('status =', query.status);
  add('start_time >=', query.from);
  add('start_time <', query.to);
  return { sql: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, parameters };
}

function shownRecording(row: RecordingEntity): StoredRecording {
  const reason = row.reason ?? row.lastError;
  return {
    id: row.id,
    haulerId: row.haulerId,
    connectionId: row.connectionId,
    source: row.source,
    partnerRecordingId: row.partnerRecordingId,
    customerId: row.customerId,
    truckId: row.truckId,
    cameraId: row.cameraId,
    startTime: formatInstant(row.startTime),
    endTime: formatInstant(row.endTime),
    durationSeconds: row.durationSeconds,
    status: row.status,
    ...(reason === null ? {} : { reason }),
    ...(row.expiresAt === null ? {} : { expiresAt: formatInstant(row.expiresAt) }),
    ...(row.sizeBytes === null ? {} : { sizeBytes: Number(row.sizeBytes) }),
    ...(row.sha256 === null ? {} : { sha256: row.sha256 }),
    createdAt: formatInstant(row.createdAt),
    updatedAt: formatInstant(row.updatedAt),
  };
}
