import { deleteInSteps } from '../database/delete-in-steps.js';
import type { Querying } from '../database/sql.js';

/** The secret of a sign-in. Exactly one of the two is present. */
export interface SessionSecret {
  /** Keyed digest of a token of the admin API. */
  readonly tokenMac: Buffer | null;
  /** The key of a partner. */
  readonly keyId: string | null;
}

export interface SessionRow extends SessionSecret {
  readonly cookieHash: Buffer;
}

/** One secret has at most this many sessions; a further sign-in ends the oldest one. */
const MAX_SESSIONS = 100;

export async function insertSession(
  database: Querying,
  { cookieHash, tokenMac, keyId }: SessionRow,
  lifetimeSeconds: number,
): Promise<void> {
  await database.query(
    `WITH surplus AS (
       DELETE FROM console_sessions WHERE cookie_hash = ANY (ARRAY(
         SELECT cookie_hash FROM console_sessions
          WHERE key_id = $2 OR token_mac = $3
          ORDER BY created_at DESC OFFSET ${MAX_SESSIONS - 1})))
     INSERT INTO console_sessions (cookie_hash, key_id, token_mac, expires_at)
     VALUES ($1, $2, $3, now() + make_interval(secs => $4))`,
    [cookieHash, keyId, tokenMac, lifetimeSeconds],
  );
}

/** The sessions with these hashes that have not expired. */
export function findSessions(database: Querying, cookieHashes: readonly Buffer[]): Promise<SessionRow[]> {
  return database.query(
    `SELECT cookie_hash AS "cookieHash", token_mac AS "tokenMac", key_id AS "keyId"
       FROM console_sessions
      WHERE cookie_hash = ANY ($1::bytea[]) AND expires_at > now()`,
    [cookieHashes],
  );
}

export async function deleteSession(database: Querying, cookieHash: Buffer): Promise<void> {
  await database.query('DELETE FROM console_sessions WHERE cookie_hash = $1', [cookieHash]);
}

export async function deleteExpiredSessions(database: Querying): Promise<void> {
  await deleteInSteps(
    database,
    `DELETE FROM console_sessions WHERE cookie_hash = ANY (ARRAY(
       SELECT cookie_hash FROM console_sessions WHERE expires_at <= now() ORDER BY expires_at LIMIT $1))`,
  );
}
