import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Violation } from '../contracts/common/violation.js';
import type { PartnerConnection } from '../partner-client/partner-connection.js';

/** A connection to a partner's Vision API, as its calls need it. */
export interface VisionConnection extends PartnerConnection {
  readonly customerId: string;
  /** Seconds between two looks of a subscription that says nothing else. */
  readonly intervalSeconds: number;
  readonly enabled: boolean;
}

/** The connections to partners' Vision APIs. */
@Injectable()
export class VisionConnections {
  constructor(private readonly dataSource: DataSource) {}

  /** Undefined where there is none, one that is deleted, or one of another interface. */
  async find(id: string): Promise<VisionConnection | undefined> {
    const [connection] = await this.dataSource.query<VisionConnection[]>(
      `SELECT hauler_id AS "haulerId", id, base_url AS "baseUrl", customer_id AS "customerId",
         interval_seconds AS "intervalSeconds", enabled
       FROM connections WHERE id = $1 AND interface = 'vision' AND deleted_at IS NULL`,
      [id],
    );
    return connection;
  }

  /** Whether there is or was one: what came through one that is deleted stays, and can be asked for. */
  async wasKnown(id: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      "SELECT 1 FROM connections WHERE id = $1 AND interface = 'vision'",
      [id],
    );
    return rows.length > 0;
  }
}

/** A connection of another interface is none here. */
export const noConnection = (): Violation => ({
  path: 'connectionId',
  rule: 'isKnown',
  message: 'connectionId must be the id of a vision connection',
});
