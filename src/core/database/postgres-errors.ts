import { QueryFailedError } from 'typeorm';

/** The SQLSTATEs that this service expects, by name (PostgreSQL manual, appendix A). */
export const SQLSTATE = {
  featureNotSupported: '0A000',
  invalidParameterValue: '22023',
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  protocolViolation: '08P01',
  checkViolation: '23514',
  readOnlyTransaction: '25006',
  idleInTransaction: '25P03',
  invalidStatementName: '26000',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  duplicatePreparedStatement: '42P05',
  insufficientPrivilege: '42501',
  undefinedTable: '42P01',
  undefinedColumn: '42703',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  diskFull: '53100',
  tooManyConnections: '53300',
} as const;

/** The server could not be reached, refused the connection, or the connection was lost; `cause` is the reason. */
export class DatabaseConnectionError extends Error {
  /** `mayHaveRun`: a statement was sent, and no result came. */
  constructor(
    cause: unknown,
    readonly mayHaveRun = false,
  ) {
    // For logs only: it is never sent to callers.
    const reason = cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : '';
    super(`no connection to the database${reason}`, { cause });
    this.name = 'DatabaseConnectionError';
  }
}

/** Mistakes of our own, such as a parameter that pg cannot write. */
const OWN_ERRORS = new Set(['TypeError', 'RangeError', 'SyntaxError']);

/**
 * What pg threw while a statement ran. Errors of the server have an SQLSTATE. Without one the connection failed, or the server did
 * not answer in time: pg has no class for that.
 */
export function asDatabaseError(error: unknown): unknown {
  const isOwn = error instanceof DatabaseConnectionError || (error instanceof Error && OWN_ERRORS.has(error.name));
  return isOwn || sqlState(error) !== undefined ? error : new DatabaseConnectionError(error, true);
}

interface PostgresError {
  readonly code?: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly message?: string;
}

/** Every SQLSTATE has a digit, so `EPIPE` does not match. */
const SQLSTATE_FORM = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of an error of pg or TypeORM; undefined for any other. */
export function sqlState(error: unknown): string | undefined {
  const code = driverError(error)?.code;
  return code !== undefined && SQLSTATE_FORM.test(code) ? code : undefined;
}

/** True for a violation of exactly this unique constraint or index: another one would be an unexpected error. */
export function isUniqueViolation(error: unknown, constraintName: string): boolean {
  const cause = driverError(error);
  return cause?.code === SQLSTATE.uniqueViolation && cause.constraint === constraintName;
}

/** True for a violation of a unique constraint in a table that is divided: each partition has a name of its own for it. */
export function isUniqueViolationIn(error: unknown, table: string): boolean {
  const cause = driverError(error);
  return cause?.code === SQLSTATE.uniqueViolation && cause.table?.startsWith(`${table}_`) === true;
}

/** True for a violation of exactly this foreign key. */
export function isForeignKeyViolation(error: unknown, constraintName: string): boolean {
  const cause = driverError(error);
  return cause?.code === SQLSTATE.foreignKeyViolation && cause.constraint === constraintName;
}

/** True if the same transaction may succeed when it runs again. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === SQLSTATE.serializationFailure || state === SQLSTATE.deadlockDetected;
}

/** True if a pooler in transaction mode has assigned another server connection than the one of our prepared statement. */
export function isLostStatement(error: unknown): boolean {
  const state = sqlState(error);
  return state === SQLSTATE.invalidStatementName || state === SQLSTATE.duplicatePreparedStatement;
}

const UNAVAILABLE_STATES: ReadonlySet<string> = new Set([
  SQLSTATE.readOnlyTransaction, // a server that has just become a standby
  SQLSTATE.idleInTransaction, // this process was paused for too long
  SQLSTATE.lockNotAvailable,
  SQLSTATE.queryCanceled, // statement timeout
]);

/** Connection exceptions, insufficient resources (too many connections), operator intervention (shutdown, starting up). */
const UNAVAILABLE_CLASSES = /^(08|53|57P)/;

/** The server closes these connections, or they lead to a server that takes no writes, or have lost their statements. */
const ENDING_STATES: ReadonlySet<string> = new Set([
  SQLSTATE.readOnlyTransaction,
  SQLSTATE.idleInTransaction,
  SQLSTATE.invalidStatementName,
  SQLSTATE.duplicatePreparedStatement,
]);

/** Connection exceptions and operator intervention; a cancelled statement does not belong to it. */
const ENDING_CLASSES = /^(08|57P)/;

/** True if the connection of this statement must not be used again. */
export function endsConnection(error: unknown): boolean {
  if (error instanceof DatabaseConnectionError) return true;
  const state = sqlState(error);
  return state !== undefined && (ENDING_STATES.has(state) || ENDING_CLASSES.test(state));
}

/** True if the connection was lost with a statement on it: a commit may have succeeded. */
export function mayHaveCommitted(error: unknown): boolean {
  if (error instanceof DatabaseConnectionError) return error.mayHaveRun;
  const state = sqlState(error);
  return state !== undefined && ENDING_CLASSES.test(state);
}

/** True for a write that a standby or a read-only database refused. */
export const isReadOnlyServer = (error: unknown): boolean => sqlState(error) === SQLSTATE.readOnlyTransaction;

/**
 * True if the database is unavailable or overloaded (decision 13, answered with 503): refused, lost or timed-out
 * connections, a server that starts or stops, too many connections, a pool without a free one, a statement timeout.
 * False for a connection that a partner refused.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (driverError(error) instanceof DatabaseConnectionError) return true;
  const state = sqlState(error);
  return state !== undefined && (UNAVAILABLE_STATES.has(state) || UNAVAILABLE_CLASSES.test(state));
}

/** Out of range, malformed time, time out of range, malformed text. */
const UNREADABLE_VALUES: ReadonlySet<string> = new Set(['22003', '22007', '22008', '22P02']);

/** True if PostgreSQL does not know a value, such as the name of a time zone. */
export const isInvalidParameter = (error: unknown): boolean => sqlState(error) === SQLSTATE.invalidParameterValue;

/** True if PostgreSQL cannot read a text as a value of its type, such as a uuid or a time. */
export const isUnreadableValue = (error: unknown): boolean => UNREADABLE_VALUES.has(sqlState(error) ?? '');

/** True if a statement waited longer than `lock_timeout`. Nothing was written. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === SQLSTATE.lockNotAvailable;
}

/** True if the database is available, but a statement took too long or waited too long for a lock. */
export function isDatabaseSlow(error: unknown): boolean {
  const state = sqlState(error);
  return state === SQLSTATE.queryCanceled || state === SQLSTATE.lockNotAvailable;
}

/** Checks the properties instead of the class, because errors of sockets may come from another realm, as in Jest. */
function driverError(error: unknown): PostgresError | undefined {
  if (error instanceof QueryFailedError) return error.driverError as PostgresError;
  return typeof error === 'object' && error !== null ? error : undefined;
}
