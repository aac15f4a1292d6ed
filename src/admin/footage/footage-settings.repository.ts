import { Injectable } from '@nestjs/common';
import type { SetTicketFootage } from '../../contracts/admin/footage.dto.js';
import { Database } from '../../core/database/database.js';

export interface FootageSetting extends Required<SetTicketFootage> {
  readonly haulerId: string;
  readonly updatedAt: Date;
}

const COLUMNS = `hauler_id AS "haulerId", truck_field AS "truckField", connection_id AS "connectionId", cameras,
  updated_at AS "updatedAt"`;

/** Where the footage of each hauler's tickets is. */
@Injectable()
export class TicketFootageRepository {
  constructor(private readonly database: Database) {}

  async find(haulerId: string): Promise<FootageSetting | undefined> {
    return this.database.first<FootageSetting>(`SELECT ${COLUMNS} FROM ticket_footage WHERE hauler_id = $1`, [
      haulerId,
    ]);
  }

  async set(haulerId: string, { truckField, connectionId, cameras }: Required<SetTicketFootage>) {
    return this.database.only<FootageSetting>(
      `INSERT INTO ticket_footage (hauler_id, truck_field, connection_id, cameras, updated_at)
       VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (hauler_id) DO UPDATE SET truck_field = excluded.truck_field,
         connection_id = excluded.connection_id, cameras = excluded.cameras, updated_at = excluded.updated_at
       RETURNING ${COLUMNS}`,
      [haulerId, truckField, connectionId, cameras],
    );
  }

  async delete(haulerId: string): Promise<void> {
    await this.database.query('DELETE FROM ticket_footage WHERE hauler_id = $1', [haulerId]);
  }
}
