import { QueryFailedError } from 'typeorm';

/** The SQLSTATEs that this service expects, by name (PostgreSQL manual, appendix A). */
export const SQLSTATE = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  readOnlyTransaction: '25006',
  idleInTransaction: '25P03',
  invalidStatementName: '26000',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  duplicatePreparedStatement: '42P05',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
} as const;

/** The server could not be reached, did not take the connection, or the connection broke; `cause` says why. */
export class DatabaseConnectionError extends Error {
  constructor(cause: unknown) {
    // For logs only: it is never sent to callers.
    const reason = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
    super(`no connection to the database${reason}`, { cause });
    this.name = 'DatabaseConnectionError';
  }
}

interface PostgresError {
  readonly code?: string;
  readonly constraint?: string;
  readonly message?: string;
}

/** Every SQLSTATE has a digit, and so `EPIPE` is none. */
const SQLSTATE_FORM = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of an error of pg or TypeORM; undefined for any other. */
export function sqlState(error: unknown): string | undefined {
  const code = driverError(error)?.code;
  return code !== undefined && SQLSTATE_FORM.test(code) ? code : undefined;
}

/** True for a breach of exactly this unique constraint or index: a violation is expected by name, never in general. */
export function isUniqueViolation(error: unknown, constraintName: string): boolean {
  const cause = driverError(error);
  return cause?.code === SQLSTATE.uniqueViolation && cause.constraint === constraintName;
}

/** True for a breach of exactly this foreign key. */
export function isForeignKeyViolation(error: unknown, constraintName: string): boolean {
  const cause = driverError(error);
  return cause?.code === SQLSTATE.foreignKeyViolation && cause.constraint === constraintName;
}

/** True where the same transaction, run again, may well succeed. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === SQLSTATE.serializationFailure || state === SQLSTATE.deadlockDetected;
}

/** True where a pooler in transaction mode has given us a server connection that does not hold our prepared statement. */
export function isLostStatement(error: unknown): boolean {
  return isUnknownStatement(error) || sqlState(error) === SQLSTATE.duplicatePreparedStatement;
}

/** True where the server connection does not hold a prepared statement, for whatever reason. */
export function isUnknownStatement(error: unknown): boolean {
  return sqlState(error) === SQLSTATE.invalidStatementName;
}

const UNAVAILABLE_STATES: ReadonlySet<string> = new Set([
  SQLSTATE.readOnlyTransaction, // a server that has just become a standby
  SQLSTATE.idleInTransaction, // this process was paused for too long
  SQLSTATE.lockNotAvailable,
  SQLSTATE.queryCanceled, // statement timeout
]);

/** Connection exceptions, insufficient resources (too many connections), operator intervention (shutdown, starting up). */
const UNAVAILABLE_CLASSES = /^(08|53|57P)/;

/** What pg and its pool say without any code. */
const UNAVAILABLE_MESSAGES =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Driver not Connected)/;

const SOCKET_CODES = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_)/;

/** Whether a connection failed, be it to the database or to anyone else. */
export function isSocketFailure(error: unknown): boolean {
  return SOCKET_CODES.test(driverError(error)?.code ?? '');
}

/**
 * True where the database is away or overloaded (decision 13, answered with 503): refused, cut or timed-out
 * connections, a server that starts or stops, too many connections, a pool without a free one, a statement timeout.
 * A partner's refused connection is not meant, and not matched.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  const cause = driverError(error);
  if (cause instanceof DatabaseConnectionError) return true;
  const state = sqlState(error);
  if (state !== undefined) return UNAVAILABLE_STATES.has(state) || UNAVAILABLE_CLASSES.test(state);
  if (UNAVAILABLE_MESSAGES.test(cause?.message ?? '')) return true;
  return error instanceof QueryFailedError && isSocketFailure(error);
}

/** Of those: it is there, and a statement took too long or waited too long for a lock. */
export function isDatabaseSlow(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return state === SQLSTATE.queryCanceled || state === SQLSTATE.lockNotAvailable;
  return driverError(error)?.message?.startsWith('Query read timeout') ?? false;
}

/** By its shape, as errors of sockets may come from another realm than this module's (Jest's, for one). */
function driverError(error: unknown): PostgresError | undefined {
  if (error instanceof QueryFailedError) return error.driverError as PostgresError;
  return typeof error === 'object' && error !== null ? error : undefined;
}
