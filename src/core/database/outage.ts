import { isDatabaseUnavailable, isTransient, SQLSTATE, sqlState } from './postgres-errors.js';

/** Why the database did not do what it was asked, and the sentence for callers and logs. */
export const DATABASE_OUTAGES = {
  'read-only': 'the database takes no writes: it is read-only or a standby',
  full: 'the database has no space left',
  'too-many-connections': 'the database accepts no more connections',
  restarting: 'the database is starting or stopping',
  memory: 'the database is out of memory or another resource',
  slow: 'the database did not answer in time',
  unreachable: 'the service cannot reach its database',
} as const;
export type DatabaseOutage = keyof typeof DATABASE_OUTAGES;

const BY_STATE: Readonly<Record<string, DatabaseOutage>> = {
  [SQLSTATE.readOnlyTransaction]: 'read-only',
  [SQLSTATE.diskFull]: 'full',
  [SQLSTATE.tooManyConnections]: 'too-many-connections',
  [SQLSTATE.queryCanceled]: 'slow',
  [SQLSTATE.lockNotAvailable]: 'slow',
  [SQLSTATE.idleInTransaction]: 'slow',
};

/** The cause of a database error, through the errors that it is the cause of; undefined for any other error. */
export function outageOf(error: unknown): DatabaseOutage | undefined {
  // A transaction that comes here after its repetitions has lost against others for seconds.
  if (isTransient(error)) return 'slow';
  if (!isDatabaseUnavailable(error)) return undefined;
  const cause = error instanceof Error ? error.cause : undefined;
  const state = sqlState(error) ?? sqlState(cause);
  if (state === undefined) return 'unreachable';
  const named = BY_STATE[state];
  if (named !== undefined) return named;
  if (state.startsWith('57P')) return 'restarting';
  return state.startsWith('53') ? 'memory' : 'unreachable';
}

export const outageSentence = (error: unknown): string => DATABASE_OUTAGES[outageOf(error) ?? 'unreachable'];
