import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import {
  DeletableOfTruck,
  HaulerRetention,
  MAX_TRUCKS,
  RetentionPreview,
  type RetentionPreviewQuery,
  type SetRetention,
} from '../../contracts/admin/retention.dto.js';
import { present } from '../../contracts/common/present.js';
import { Database } from '../../database/database.js';
import type { Sql } from '../../database/sql.js';
import { apiError, invalid } from '../../errors/app-error.js';
import { deletableBy, retentionOf, type RetentionRow, storeRetention } from './retention.repository.js';

type Days = Pick<HaulerRetention, 'onDemandDays' | 'continuousDays'>;

/** For how long each hauler keeps its video. */
@Injectable()
export class RetentionSettings {
  constructor(private readonly database: Database) {}

  async get(haulerId: string): Promise<HaulerRetention> {
    return shown(await find(this.database, haulerId));
  }

  /** 400 for an unknown hauler. */
  async preview(query: RetentionPreviewQuery): Promise<RetentionPreview> {
    const { haulerId, onDemandDays, continuousDays } = query;
    return this.reading(async (transaction) => {
      const row = await retentionOf(transaction, haulerId);
      if (row === undefined) throw invalid([UNKNOWN_HAULER]);
      return previewOf(transaction, haulerId, {
        onDemandDays: daysIn(onDemandDays, row.on_demand_days),
        continuousDays: daysIn(continuousDays, row.continuous_days),
      });
    });
  }

  /** A shorter retention needs the number of a preview, which is not older than what it would delete now. Else 409. */
  async set(haulerId: string, change: SetRetention, by: string): Promise<HaulerRetention> {
    const { onDemandDays = null, continuousDays = null } = change;
    const days = { onDemandDays, continuousDays };
    return this.reading(async (transaction) => {
      const row = await find(transaction, haulerId);
      if (isShorter(onDemandDays, row.on_demand_days) || isShorter(continuousDays, row.continuous_days)) {
        confirmed(change, await previewOf(transaction, haulerId, days));
      }
      await storeRetention(transaction, haulerId, days, by);
      return shown(await find(transaction, haulerId));
    });
  }

  /** A hauler may have more recordings than a request can count. */
  private reading<T>(work: (transaction: Sql) => Promise<T>): Promise<T> {
    return this.database.transaction(work, { pool: 'bulk' });
  }
}

const UNKNOWN_HAULER = { path: 'haulerId', rule: 'isKnown', message: 'haulerId must be the id of a hauler' } as const;

async function find(database: Sql, haulerId: string): Promise<RetentionRow> {
  const row = await retentionOf(database, haulerId);
  if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no hauler ${haulerId}`);
  return row;
}

const shown = (row: RetentionRow): HaulerRetention =>
  present(HaulerRetention, { ...row, isDefault: row.changed_at === null });

/** Of a query, where 0 stands for ever. */
const daysIn = (days: number | undefined, current: number | null): number | null =>
  days === undefined ? current : days === 0 ? null : days;

const isShorter = (days: number | null, before: number | null): boolean =>
  days !== null && (before === null || days < before);

function confirmed({ confirm, recordings: known }: SetRetention, preview: RetentionPreview): void {
  const { recordings, bytes, held } = preview;
  if (confirm === true && known !== undefined && recordings <= known) return;
  const message =
    confirm === true && known !== undefined
      ? `it would delete ${recordings} recordings now, more than the ${known} of the preview: read the preview again`
      : `it shortens the retention, and would delete ${recordings} recordings (${bytes} bytes): send confirm true and recordings ${recordings}`;
  throw apiError(ADMIN_API, 'conflict', message, { details: { recordings, bytes, held } });
}

async function previewOf(database: Sql, haulerId: string, days: Days): Promise<RetentionPreview> {
  const [total, ...trucks] = await deletableBy(database, haulerId, days, MAX_TRUCKS);
  return present(RetentionPreview, { ...total, trucks: trucks.map((row) => present(DeletableOfTruck, row)) });
}
