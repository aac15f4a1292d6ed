import { hkdfSync } from 'node:crypto';
import { StartupError } from '../core/config/startup-error.js';
import { migrationPool } from '../core/database/migrate.js';
import { isDatabaseUnavailable } from '../core/database/postgres-errors.js';
import { newFingerprint, storedFingerprint, storeFingerprint } from '../core/database/schema.repository.js';
import type { Sql } from '../core/database/sql.js';
import { openKey, SealBrokenError } from './connection-keys.service.js';
import { findStoredSecrets, type StoredSecret } from './stored-secrets.repository.js';

/**
 * Throws `StartupError` if SECRETS_KEY is not the one that has sealed the secrets of the database (decision 70). A database that is
 * away or takes no writes is asked at the next start.
 */
export async function refuseOtherKey(databaseUrl: string, secretsKey: Buffer): Promise<void> {
  const pool = migrationPool(databaseUrl);
  try {
    await assertOwnKey(pool, secretsKey);
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
  } finally {
    await pool.close();
  }
}

/**
 * The same, before migrations too. The first start with the present schema stores the fingerprint of the key; in a database that has
 * secrets already, only if the key opens one of them.
 */
export async function assertOwnKey(database: Sql, secretsKey: Buffer): Promise<void> {
  const own = fingerprintOf(secretsKey);
  const stored = await storedFingerprint(database);
  const accepted = stored ?? ((await opensSecrets(database, secretsKey)) ? await storeFingerprint(database, own) : null);
  if (accepted !== own) throw new StartupError(refusal(stored === undefined ? FORGET_KEYS : newFingerprint(own)));
}

/** It says nothing about the key. */
const fingerprintOf = (secretsKey: Buffer): string =>
  Buffer.from(hkdfSync('sha256', secretsKey, '', 'haulbridge fingerprint', 16)).toString('hex');

/** True as well if there is none. */
async function opensSecrets(database: Sql, secretsKey: Buffer): Promise<boolean> {
  const secrets = await findStoredSecrets(database);
  return secrets.length === 0 || secrets.some((secret) => isOpenedBy(secretsKey, secret));
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

/** For a database of version 0.2, which has no fingerprint that could be replaced. */
const FORGET_KEYS = `UPDATE connections SET sealed_key = '', sealed_next_key = NULL`;

const refusal = (statement: string): string =>
  'SECRETS_KEY: it is not the one of this database, whose stored keys of partners it could not read. ' +
  'Set it to that of the service that has used the database (embedded: secretsKey in DATA_DIR/secrets.json). ' +
  `If that is lost: run ${statement} in the database, start the service, and store each key of a partner again.`;
