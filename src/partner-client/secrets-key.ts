import { hkdfSync } from 'node:crypto';
import { StartupError } from '../core/config/startup-error.js';
import { migrationPool } from '../core/database/migrate.js';
import { isDatabaseUnavailable, SQLSTATE, sqlState } from '../core/database/postgres-errors.js';
import { newFingerprint, storedFingerprint, storeFingerprint } from '../core/database/schema.repository.js';
import type { Sql } from '../core/database/sql.js';
import { openKey, SealBrokenError } from './connection-keys.service.js';
import { findStoredSecrets, type StoredSecret } from './stored-secrets.repository.js';

/**
 * Throws `StartupError` if SECRETS_KEY is not the one that has sealed the secrets of the database (decision 70). The first start
 * stores its fingerprint; in a database that has secrets already, only if the key opens one of them. A database that is away, takes no
 * writes or lacks migrations is asked at the next start.
 */
export async function refuseOtherKey(databaseUrl: string, secretsKey: Buffer): Promise<void> {
  const pool = migrationPool(databaseUrl);
  try {
    const own = fingerprintOf(secretsKey);
    if ((await fingerprintIn(pool, secretsKey, own)) !== own) throw new StartupError(refusal(own));
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !UNMIGRATED.has(sqlState(error))) throw error;
  } finally {
    await pool.close();
  }
}

const UNMIGRATED: ReadonlySet<string | undefined> = new Set([SQLSTATE.undefinedTable, SQLSTATE.undefinedColumn]);

/** It says nothing about the key. */
const fingerprintOf = (secretsKey: Buffer): string =>
  Buffer.from(hkdfSync('sha256', secretsKey, '', 'haulbridge fingerprint', 16)).toString('hex');

/** The one of the database; undefined if none is stored and the key opens no secret. */
async function fingerprintIn(database: Sql, secretsKey: Buffer, own: string): Promise<string | undefined> {
  const stored = await storedFingerprint(database);
  if (stored !== undefined) return stored;
  const secrets = await findStoredSecrets(database);
  const isOurs = secrets.length === 0 || secrets.some((secret) => isOpenedBy(secretsKey, secret));
  return isOurs ? storeFingerprint(database, own) : undefined;
}

function isOpenedBy(secretsKey: Buffer, { id, sealed }: StoredSecret): boolean {
  try {
    openKey(secretsKey, id, sealed);
    return true;
  } catch (error) {
    if (error instanceof SealBrokenError) return false;
    throw error;
  }
}

const refusal = (own: string): string =>
  'SECRETS_KEY: it is not the one of this database, whose stored keys of partners it could not read. ' +
  'Set it to that of the service that has used the database (embedded: secretsKey in DATA_DIR/secrets.json). ' +
  `If that is lost: run ${newFingerprint(own)} in the database, start the service, and store each key of a partner again.`;
