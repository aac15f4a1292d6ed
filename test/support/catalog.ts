import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { uuidv7 } from '../../src/core/database/uuid.js';

/** Writes catalog records as a synchronisation would have left them; every id is the partner's. */
export class CatalogFixture {
  constructor(private readonly database: Pick<DataSource, 'query'>) {}

  async hauler(name = 'Test Hauling'): Promise<string> {
    const id = uuidv7();
    await this.database.query('INSERT INTO haulers (id, name) VALUES ($1, $2)', [id, name]);
    return id;
  }

  async site(haulerId: string, { id = String(randomUUID()), active = true } = {}): Promise<string> {
    await this.database.query(
      `INSERT INTO sites (id, hauler_id, external_id, active, name) VALUES ($1, $2, $3, $4, 'Site')`,
      [uuidv7(), haulerId, id, active],
    );
    return id;
  }

  async material(
    haulerId: string,
    { siteId }: { readonly siteId: string },
    { id = String(randomUUID()), active = true } = {},
  ): Promise<string> {
    await this.database.query(
      `INSERT INTO materials
         (id, hauler_id, external_id, active, site_ids, material_type, measure_unit)
       VALUES ($1, $2, $3, $4, $5, 'Debris', 'Ton')`,
      [uuidv7(), haulerId, id, active, [siteId]],
    );
    return id;
  }
}
