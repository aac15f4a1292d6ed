import type { Sql } from '../core/database/sql.js';

/** A text that SECRETS_KEY has sealed, with the id of its row. */
export interface StoredSecret {
  readonly id: string;
  readonly sealed: string;
}

/** Those of all haulers: keys of partners, and secrets of webhook endpoints. */
export const findStoredSecrets = (database: Sql): Promise<StoredSecret[]> =>
  database.query<StoredSecret>(
    `SELECT id, sealed_key AS sealed FROM connections WHERE sealed_key <> ''
     UNION ALL SELECT id, sealed_next_key FROM connections WHERE sealed_next_key <> ''
     UNION ALL SELECT id, sealed_secret FROM webhook_endpoints`,
    [],
  );
