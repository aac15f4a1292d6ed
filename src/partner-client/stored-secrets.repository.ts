import { unlessMissing } from '../core/database/schema.repository.js';
import type { Sql } from '../core/database/sql.js';

/** A text that SECRETS_KEY has sealed, with the id of its row. */
export interface StoredSecret {
  readonly id: string;
  readonly sealed: string;
}

/** Those of all haulers: keys of partners, and secrets of webhook endpoints, which version 0.2 does not have. */
export async function findStoredSecrets(database: Sql): Promise<StoredSecret[]> {
  const ofPartners = `SELECT id, sealed_key AS sealed FROM connections WHERE sealed_key <> ''
     UNION ALL SELECT id, sealed_next_key FROM connections WHERE sealed_next_key <> ''`;
  const ofEndpoints = 'SELECT id, sealed_secret AS sealed FROM webhook_endpoints';
  const select = (sql: string) => unlessMissing(() => database.query<StoredSecret>(sql, []));
  return [...((await select(ofPartners)) ?? []), ...((await select(ofEndpoints)) ?? [])];
}
