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

  async kiosk(haulerId: string, siteId: string, { id = String(randomUUID()) } = {}): Promise<string> {
    await this.database.query(
      `INSERT INTO kiosks (id, hauler_id, external_id, site_external_id, name)
       VALUES ($1, $2, $3, $4, 'Kiosk')`,
      [uuidv7(), haulerId, id, siteId],
    );
    return id;
  }

  async material(
    haulerId: string,
    parent: { readonly siteId?: string; readonly kioskId?: string },
    { id = String(randomUUID()), active = true } = {},
  ): Promise<string> {
    await this.database.query(
      `INSERT INTO materials
         (id, hauler_id, external_id, active, site_ids, kiosk_ids, material_type, measure_unit)
       VALUES ($1, $2, $3, $4, $5, $6, 'Debris', 'Ton')`,
      [uuidv7(), haulerId, id, active, parent.siteId && [parent.siteId], parent.kioskId && [parent.kioskId]],
    );
    return id;
  }
}
