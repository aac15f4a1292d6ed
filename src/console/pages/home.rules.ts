import type { ApiKey } from '../../contracts/admin/api-key.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';

const HOUR_MS = 3_600_000;
const RENEW_MS = 14 * 24 * HOUR_MS;

/** The failed run of a connection is listed itself, with the same error. */
export function withoutFailedRuns(connections: readonly Connection[], runs: readonly SyncRun[]): Connection[] {
  const listed = new Set(runs.map(({ connectionId }) => connectionId));
  return connections.filter(({ id }) => !listed.has(id));
}

/** Downloads that have not begun and whose link expires within an hour. */
export const atRisk = (waiting: readonly StoredRecording[], now: number): StoredRecording[] =>
  waiting.filter(({ expiresAt }) => expiresAt !== undefined && Date.parse(expiresAt) - now < HOUR_MS);

/** Keys in use that expire soon, the first one first. */
export function keysToRenew(keys: readonly ApiKey[], now: number): ApiKey[] {
  const left = ({ expiresAt }: ApiKey) => Date.parse(expiresAt ?? '') - now;
  const soon = keys.filter((key) => key.revokedAt === null && left(key) > 0 && left(key) < RENEW_MS);
  return soon.sort((one, other) => left(one) - left(other));
}
