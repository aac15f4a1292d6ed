import { REPLAYED_HEADER } from '../../contracts/common/idempotency.js';
import type { Sql } from '../database/sql.js';
import { type Answer, JSON_TYPE } from '../http/answer.js';

/** The right to answer one request: scope (hauler and path), the caller's key, SHA-256 of the body (decision 16). */
export interface Claim {
  readonly haulerId: string;
  readonly path: string;
  readonly key: string;
  readonly fingerprint: Buffer;
  /** The address of the page about errors, for an error that is kept. */
  readonly help?: string | undefined;
}

/**
 * - `claimed`: there is no answer yet; do the work and `keep` the answer, or roll back.
 * - `replay`: send this answer; its body is the text of the first response.
 * - `reused`: the key was answered for another body.
 * - `duplicateInBatch`: an earlier claim of this batch has the same key; claim again after this transaction.
 */
export type ClaimOutcome =
  | { readonly state: 'claimed' }
  | { readonly state: 'replay'; readonly answer: Answer<string> }
  | { readonly state: 'reused' }
  | { readonly state: 'duplicateInBatch' };

/** An answer to keep. The body is kept as the JSON text that Express makes of it. */
export interface KeptAnswer {
  readonly claim: Claim;
  readonly answer: Answer;
}

/** How long an answer is kept (decision 16). */
export const KEPT_DAYS = 1;
/** As PostgreSQL reads it. */
export const KEPT_FOR = `${KEPT_DAYS * 24} hours`;

const REPLAYED = { 'Content-Type': JSON_TYPE, [REPLAYED_HEADER]: 'true' };

interface KeyRow {
  readonly hauler_id: string;
  readonly path: string;
  readonly key: string;
}

interface AnsweredRow extends KeyRow {
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Claims keys in the caller's transaction, which must be READ COMMITTED. Returns one outcome per claim, in their order. Waits for
 * another transaction that holds one of the keys. A rollback releases the claims.
 */
export async function claim(runner: Sql, claims: readonly Claim[]): Promise<ClaimOutcome[]> {
  const firsts = new Map<string, Claim>();
  for (const one of claims) if (!firsts.has(nameOfClaim(one))) firsts.set(nameOfClaim(one), one);
  const claimed = new Set((await insert(runner, [...firsts.values()])).map(nameOfRow));
  const held = [...firsts.values()].filter((one) => !claimed.has(nameOfClaim(one)));
  const answered = new Map((await select(runner, held)).map((row) => [nameOfRow(row), row]));
  return claims.map((one) => {
    if (claimed.has(nameOfClaim(one)))
      return { state: firsts.get(nameOfClaim(one)) === one ? 'claimed' : 'duplicateInBatch' };
    return outcomeOf(one, answered.get(nameOfClaim(one)));
  });
}

/** Keeps the answers of claimed keys, in the transaction of the work. */
export async function keep(runner: Sql, answers: readonly KeptAnswer[]): Promise<void> {
  if (answers.length === 0) return;
  await runner.query(
    `UPDATE idempotency_keys AS kept
        SET status = answer.status, headers = answer.headers::jsonb, body = answer.body
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::text[])
              AS answer (hauler_id, path, key, status, headers, body)
      WHERE (kept.hauler_id, kept.path, kept.key) = (answer.hauler_id, answer.path, answer.key)`,
    [
      ...keyColumns(answers.map((one) => one.claim)),
      answers.map(({ answer }) => answer.status),
      answers.map(({ answer }) => JSON.stringify(answer.headers)),
      answers.map(({ answer }) => JSON.stringify(answer.body)),
    ],
  );
}

/** Deletes at most `limit` expired answers, without those that another statement has locked. Returns how many it deleted. */
export async function deleteExpired(runner: Sql, limit: number): Promise<number> {
  return runner.change(
    `WITH expired AS MATERIALIZED (
       SELECT hauler_id, path, key FROM idempotency_keys
        WHERE created_at <= now() - interval '${KEPT_FOR}'
        ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     DELETE FROM idempotency_keys AS kept USING expired
      WHERE (kept.hauler_id, kept.path, kept.key) = (expired.hauler_id, expired.path, expired.key)`,
    [limit],
  );
}

/** Claims keys that are new or too old. Sorted, so that batches wait for each other and cannot deadlock. */
async function insert(runner: Sql, claims: Claim[]): Promise<KeyRow[]> {
  if (claims.length === 0) return [];
  const sorted = claims.sort((a, b) => (nameOfClaim(a) < nameOfClaim(b) ? -1 : 1));
  return runner.query<KeyRow>(
    `INSERT INTO idempotency_keys AS kept (hauler_id, path, key, fingerprint)
     SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[])
     ON CONFLICT (hauler_id, path, key) DO UPDATE
        SET fingerprint = excluded.fingerprint, status = NULL, headers = NULL, body = NULL, created_at = now()
      WHERE kept.created_at <= now() - interval '${KEPT_FOR}' OR kept.status IS NULL
     RETURNING hauler_id, path, key`,
    [...keyColumns(sorted), sorted.map((one) => one.fingerprint)],
  );
}

/** A separate statement, because its snapshot includes the commit that `insert` waited for. */
async function select(runner: Sql, claims: readonly Claim[]): Promise<AnsweredRow[]> {
  if (claims.length === 0) return [];
  return runner.query<AnsweredRow>(
    `SELECT hauler_id, path, key, fingerprint, status, headers, body FROM idempotency_keys
      WHERE (hauler_id, path, key) IN (SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[]))`,
    keyColumns(claims),
  );
}

function outcomeOf(claim: Claim, row: AnsweredRow | undefined): ClaimOutcome {
  if (row === undefined) throw new Error('claims need a READ COMMITTED transaction: an answered key was not seen');
  if (!row.fingerprint.equals(claim.fingerprint)) return { state: 'reused' };
  return {
    state: 'replay',
    answer: { status: row.status, headers: { ...row.headers, ...REPLAYED }, body: row.body },
  };
}

function keyColumns(claims: readonly Claim[]): string[][] {
  return [claims.map((one) => one.haulerId), claims.map((one) => one.path), claims.map((one) => one.key)];
}

/** Two claims of the same key have the same name. No part can contain a blank. */
export function nameOfClaim(claim: Claim): string {
  return `${claim.haulerId} ${claim.path} ${claim.key}`;
}

function nameOfRow(row: KeyRow): string {
  return `${row.hauler_id} ${row.path} ${row.key}`;
}
