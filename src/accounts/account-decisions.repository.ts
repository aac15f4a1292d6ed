import type { Sql } from '../core/database/sql.js';
import type { Decision, UndecidedCall } from '../exchanges/exchange-decisions.service.js';
import { nameDigest } from './account-name.js';

/** By name and time. Parameters: exchange, hauler and name of each call, first id and the one behind the last. */
const FIND = `
  SELECT call.exchange_id AS "exchangeId", a.id AS "accountId"
    FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[], $5::uuid[])
      AS call (exchange_id, hauler_id, name_digest, first_id, end_id)
    JOIN accounts a ON (a.hauler_id, a.name_digest) = (call.hauler_id, call.name_digest)
     AND a.id >= call.first_id AND a.id < call.end_id`;

/** The accounts that were created while the service worked on these calls, with the names that they sent. */
export async function findAccountDecisions(database: Sql, calls: readonly UndecidedCall[]): Promise<Decision[]> {
  const named = calls.flatMap(({ references, ...call }) => {
    const name = references.find(({ kind }) => kind === 'accountName')?.value;
    return name === undefined ? [] : { ...call, digest: nameDigest(name) };
  });
  if (named.length === 0) return [];
  const rows = await database.query<{ exchangeId: string; accountId: string }>(FIND, [
    named.map(({ exchangeId }) => exchangeId),
    named.map(({ haulerId }) => haulerId),
    named.map(({ digest }) => digest),
    named.map(({ firstId }) => firstId),
    named.map(({ endId }) => endId),
  ]);
  return rows.map(({ exchangeId, accountId }) => {
    return { exchangeId, result: 'created', reference: { kind: 'accountId', value: accountId } };
  });
}
