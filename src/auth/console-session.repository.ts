import type { AdminRole } from '../contracts/common/roles.values.js';
import { deleteInSteps } from '../core/database/sweep.js';
import type { Sql } from '../core/database/sql.js';
import type { Person } from '../core/http/principal.js';

/** The secret of a sign-in. Exactly one of the first two is present. */
export interface SessionSecret {
  /** Keyed digest of a token of the admin API; of a person that of the settings of the identity provider. */
  readonly tokenMac: Buffer | null;
  /** The key of a partner. */
  readonly keyId: string | null;
  readonly person: Person | null;
  /** Of a person. */
  readonly role: AdminRole | null;
  /** Of a person that is limited to some. */
  readonly haulers: readonly string[] | null;
}

export interface SessionRow extends SessionSecret {
  readonly cookieHash: Buffer;
}

/** For the sign-out of a person at the identity provider. */
export interface SessionToken {
  readonly id: string;
  /** Sealed. */
  readonly idToken: string | null;
}

export interface NewSession extends SessionRow, SessionToken {}

/** A session as admins see it. */
export interface ListedSession extends Omit<SessionRow, 'keyId'> {
  readonly id: string;
  /** Of the key of a partner. */
  readonly keyPrefix: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** One secret or person has at most this many sessions; a further sign-in ends the oldest one. */
const MAX_SESSIONS = 100;

export async function insertSession(
  database: Sql,
  { id, cookieHash, tokenMac, keyId, person, role, haulers, idToken }: NewSession,
  lifetimeSeconds: number,
): Promise<void> {
  await database.query(
    `WITH surplus AS (
       DELETE FROM console_sessions WHERE cookie_hash = ANY (ARRAY(
         SELECT cookie_hash FROM console_sessions
          WHERE (key_id = $2 OR token_mac = $3) AND person->>'subject' IS NOT DISTINCT FROM $5::jsonb->>'subject'
          ORDER BY created_at DESC OFFSET ${MAX_SESSIONS - 1})))
     INSERT INTO console_sessions (cookie_hash, key_id, token_mac, expires_at, person, role, haulers, id_token, id)
     VALUES ($1, $2, $3, now() + make_interval(secs => $4), $5, $6, $7, $8, $9)`,
    [
      cookieHash,
      keyId,
      tokenMac,
      lifetimeSeconds,
      person === null ? null : JSON.stringify(person),
      role,
      haulers,
      idToken,
      id,
    ],
  );
}

/** The sessions with these hashes that have not expired. */
export function findSessions(database: Sql, cookieHashes: readonly Buffer[]): Promise<SessionRow[]> {
  return database.query<SessionRow>(
    `SELECT cookie_hash AS "cookieHash", token_mac AS "tokenMac", key_id AS "keyId", person, role, haulers
       FROM console_sessions
      WHERE cookie_hash = ANY ($1::bytea[]) AND expires_at > now()`,
    [cookieHashes],
  );
}

/** The sessions that have not ended, as a list of the admin API. */
export const openSessions = () =>
  ({
    name: 'sessions',
    sql: `SELECT s.id, s.cookie_hash AS "cookieHash", s.token_mac AS "tokenMac", k.prefix AS "keyPrefix", s.person, s.role,
        s.haulers, s.created_at, s.created_at AS "createdAt", s.expires_at AS "expiresAt"
      FROM console_sessions AS s LEFT JOIN api_keys AS k ON k.id = s.key_id WHERE s.expires_at > now()`,
    parameters: [],
    key: ['created_at', 'id'],
    order: 'DESC',
  }) as const;

/** Returns what it had. */
export async function deleteSession(database: Sql, cookieHash: Buffer): Promise<SessionToken | undefined> {
  return database.first<SessionToken>(
    'DELETE FROM console_sessions WHERE cookie_hash = $1 RETURNING id, id_token AS "idToken"',
    [cookieHash],
  );
}

/** Returns whether there was one. */
export async function deleteSessionById(database: Sql, id: string): Promise<boolean> {
  const deleted = await database.change('DELETE FROM console_sessions WHERE id = $1', [id]);
  return deleted > 0;
}

/** The sessions that are signed in with a key. */
export async function countSessions(database: Sql, keyId: string): Promise<number> {
  const sql = 'SELECT count(*)::float8 AS count FROM console_sessions WHERE key_id = $1 AND expires_at > now()';
  return (await database.only<{ count: number }>(sql, [keyId])).count;
}

export async function deleteExpiredSessions(database: Sql, stopping: AbortSignal): Promise<void> {
  await deleteInSteps(
    database,
    `DELETE FROM console_sessions WHERE cookie_hash = ANY (ARRAY(
       SELECT cookie_hash FROM console_sessions WHERE expires_at <= now() ORDER BY expires_at LIMIT $1))`,
    [],
    stopping,
  );
}
