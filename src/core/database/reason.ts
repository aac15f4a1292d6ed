import { isDatabaseUnavailable, isTransient, SQLSTATE, sqlState } from './postgres-errors.js';
import { QueryFailedError } from 'typeorm';
import { StartupError } from '../config/startup-error.js';

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
type DatabaseOutage = keyof typeof DATABASE_OUTAGES;

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

/** Describes an error for an operator: its message if the operator can remove the reason, else with its stack. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const unavailable = unavailableReason(error);
  if (unavailable !== undefined) return unavailable;
  return error instanceof StartupError || isSystemError(error) ? error.message : (error.stack ?? error.message);
}

/** An error of the system that Node.js describes in a sentence: `ENOSPC: no space left on device, write`. */
const isSystemError = (error: Error): boolean => 'errno' in error && 'syscall' in error;

/** One sentence that names the variable, if the database failed. */
function unavailableReason(error: unknown): string | undefined {
  if (!isDatabaseUnavailable(error)) return undefined;
  const what = outageOf(error) === 'unreachable' ? 'the database cannot be reached' : outageSentence(error);
  return `DATABASE_URL: ${what}: ${innermost(error as Error)}`;
}

/** Codes of Node.js for a certificate whose signer is unknown. Its own sentences are about Node.js. */
const UNKNOWN_SIGNER = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

function innermost(error: Error): string {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error.cause;
  // Not by its class: errors of sockets may come from another realm, as in Jest.
  if (typeof cause === 'object' && cause !== null && 'message' in cause) return innermost(cause as Error);
  // A host with several addresses that all refused the connection: the AggregateError itself has no message.
  if (error instanceof AggregateError) return error.errors.map((each) => innermost(each as Error)).join(', ');
  const { code = '' } = error as { readonly code?: string };
  if (UNKNOWN_SIGNER.has(code))
    return 'its certificate is signed by itself or by an unknown authority. Name the file with the certificate that signed it in DATABASE_CA, or by sslrootcert in DATABASE_URL.';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${error.message}. Use a name of the certificate in DATABASE_URL, or sslmode=verify-ca with DATABASE_CA, which does not check the name.`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `its ${error.message}. Renew it on the server of the database, and compare the clocks of both machines.`;
  return error.message;
}
