import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ENV, type Env } from '../core/config/env.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { type CreateHaulerRequest, Hauler } from '../contracts/admin/haulers.routes.js';
import type { List, ListQuery } from '../contracts/admin/list.dto.js';
import { present } from '../contracts/common/present.js';
import { Database } from '../core/database/database.js';
import { entityPage } from '../core/database/list-page.js';
import { isUniqueViolation } from '../core/database/postgres-errors.js';
import { uuidv7 } from '../core/database/uuid.js';
import { apiError } from '../core/errors/app-error.js';
import { HAULERS, insertHauler, storeMissingRetentions } from './haulers.repository.js';
import { HaulerEntity } from './auth.entity.js';

/** The tenants of the platform (decision 1). */
@Injectable()
export class HaulersService {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    @Inject(ENV) private readonly env: Pick<Env, 'VIDEO_RETENTION_DAYS'>,
  ) {}

  /** Throws `conflict` if the given id is taken. */
  async create({ id = uuidv7(), name }: CreateHaulerRequest): Promise<Hauler> {
    const row: HaulerEntity = { id, name, createdAt: new Date() };
    try {
      await this.database.transaction(async (transaction) => {
        await insertHauler(transaction, row);
        await storeMissingRetentions(transaction, this.env.VIDEO_RETENTION_DAYS, id);
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'haulers_pkey')) throw error;
      throw apiError(ADMIN_API, 'conflict', `there is a hauler ${id} already`);
    }
    return present(Hauler, row);
  }

  /** Newest first. */
  async list(query: ListQuery): Promise<List<Hauler>> {
    const { rows, pagination } = await entityPage(this.database, this.dataSource, HaulerEntity, HAULERS, query);
    return { data: rows.map((row) => present(Hauler, row)), pagination };
  }

  async get(id: string): Promise<Hauler> {
    const row = await this.dataSource.manager.findOneBy(HaulerEntity, { id });
    if (row === null) throw apiError(ADMIN_API, 'notFound', `there is no hauler ${id}`);
    return present(Hauler, row);
  }

  async exists(id: string): Promise<boolean> {
    return await this.dataSource.manager.existsBy(HaulerEntity, { id });
  }
}
