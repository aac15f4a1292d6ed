import { Injectable } from '@nestjs/common';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import {
  DeletableOfTruck,
  HaulerRetention,
  MAX_TRUCKS,
  RetentionPreview,
  type SetRetention,
} from '../../contracts/admin/retention.routes.js';
import { present } from '../../contracts/common/present.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { apiError } from '../../core/errors/app-error.js';
import { deletableBy, retentionOf, type RetentionRow, storeRetention } from './retention.repository.js';

type Days = Pick<HaulerRetention, 'onDemandDays' | 'continuousDays'>;

/** For how long each hauler keeps its video. */
@Injectable()
export class RetentionSettings {
  constructor(private readonly database: Database) {}

  async get(haulerId: string): Promise<HaulerRetention> {
    return shown(await find(this.database, haulerId));
  }

  /** A dry run returns the setting as it would be, with what it would delete now. */
  async set(haulerId: string, change: SetRetention, by: string): Promise<HaulerRetention> {
    const { onDemandDays = null, continuousDays = null, dryRun } = change;
    const days = { onDemandDays, continuousDays };
    const work = async (transaction: Sql) => {
      await find(transaction, haulerId);
      await storeRetention(transaction, haulerId, days, by);
      const preview = dryRun === true ? await previewOf(transaction, haulerId, days) : undefined;
      return { ...shown(await find(transaction, haulerId)), ...(preview === undefined ? {} : { preview }) };
    };
    // A hauler may have more recordings than a request can count.
    return this.database.transaction(work, { pool: 'bulk', isDryRun: dryRun });
  }
}

async function find(database: Sql, haulerId: string): Promise<RetentionRow> {
  const row = await retentionOf(database, haulerId);
  if (row === undefined) throw apiError(ADMIN_API, 'notFound', `there is no hauler ${haulerId}`);
  return row;
}

const shown = (row: RetentionRow): HaulerRetention =>
  present(HaulerRetention, { ...row, isDefault: row.changed_at === null });

async function previewOf(database: Sql, haulerId: string, days: Days): Promise<RetentionPreview> {
  const [total, ...trucks] = await deletableBy(database, haulerId, days, MAX_TRUCKS);
  return present(RetentionPreview, { ...total, trucks: trucks.map((row) => present(DeletableOfTruck, row)) });
}
