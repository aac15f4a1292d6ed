import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { SetTicketFootage } from '../../contracts/admin/footage.dto.js';

export interface FootageSetting extends Required<SetTicketFootage> {
  readonly haulerId: string;
  readonly updatedAt: Date;
}

const COLUMNS = `hauler_id AS "haulerId", truck_field AS "truckField", connection_id AS "connectionId", cameras,
  updated_at AS "updatedAt"`;

/** Where the footage of each hauler's tickets is. */
@Injectable()
export class TicketFootageRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find(haulerId: string): Promise<FootageSetting | undefined> {
    const [row] = await this.dataSource.query<FootageSetting[]>(
      `SELECT ${COLUMNS} FROM ticket_footage WHERE hauler_id = $1`,
      [haulerId],
    );
    return row;
  }

  async set(haulerId: string, { truckField, connectionId, cameras }: Required<SetTicketFootage>) {
    const [row] = await this.dataSource.query<[FootageSetting]>(
      `INSERT INTO ticket_footage (hauler_id, truck_field, connection_id, cameras, updated_at)
       VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (hauler_id) DO UPDATE SET truck_field = excluded.truck_field,
         connection_id = excluded.connection_id, cameras = excluded.cameras, updated_at = excluded.updated_at
       RETURNING ${COLUMNS}`,
      [haulerId, truckField, connectionId, cameras],
    );
    return row;
  }

  async delete(haulerId: string): Promise<void> {
    await this.dataSource.query('DELETE FROM ticket_footage WHERE hauler_id = $1', [haulerId]);
  }
}
