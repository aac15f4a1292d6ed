import type { ApiKey } from '../../contracts/admin/api-key.dto.js';
import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';

const HOUR_MS = 3_600_000;
const RENEW_MS = 14 * 24 * HOUR_MS;

/** The newest finished run of each connection: an older failure no longer matters. `runs` are newest first. */
export function newestRuns(runs: readonly SyncRun[]): SyncRun[] {
  const newest = new Map<string, SyncRun>();
  for (const run of runs) {
    if (run.status === 'queued' || run.status === 'running' || newest.has(run.connectionId)) continue;
    newest.set(run.connectionId, run);
  }
  return [...newest.values()];
}

/** Whether the link of a download that has not begun expires within an hour. */
export const isAtRisk = ({ expiresAt }: StoredRecording, now: number): boolean =>
  expiresAt !== undefined && Date.parse(expiresAt) - now < HOUR_MS;

/** Keys in use that expire soon, the first one first. */
export function keysToRenew(keys: readonly ApiKey[], now: number): ApiKey[] {
  const left = ({ expiresAt }: ApiKey) => Date.parse(expiresAt ?? '') - now;
  const soon = keys.filter((key) => key.revokedAt === null && left(key) > 0 && left(key) < RENEW_MS);
  return soon.sort((one, other) => left(one) - left(other));
}

export interface Refusal {
  readonly reason: string;
  readonly count: number;
  readonly errorCode: string | undefined;
}

/** Refused calls, grouped by what the service decided; the most frequent first. */
export function refusalsByReason(exchanges: readonly Exchange[]): Refusal[] {
  const groups = Map.groupBy(exchanges, ({ result, errorCode, status }) => result ?? errorCode ?? String(status));
  const refusals = [...groups].map(([reason, all]) => ({ reason, count: all.length, errorCode: all[0]?.errorCode }));
  return refusals.sort((one, other) => other.count - one.count);
}
