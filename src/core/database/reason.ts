import { QueryFailedError } from 'typeorm';
import { StartupError } from '../config/startup-error.js';
import { outageOf, outageSentence } from './outage.js';
import { isDatabaseUnavailable } from './postgres-errors.js';

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
    return `${error.message} Use a name of the certificate in DATABASE_URL, or sslmode=verify-ca with DATABASE_CA, which does not check the name.`;
  return error.message;
}
