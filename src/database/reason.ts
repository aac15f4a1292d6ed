import { QueryFailedError } from 'typeorm';
import { StartupError } from '../config/startup-error.js';
import { isDatabaseSlow, isDatabaseUnavailable } from './postgres-errors.js';

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
  const what = isDatabaseSlow(error) ? 'did not answer in time' : 'cannot be reached';
  return `DATABASE_URL: the database ${what}: ${innermost(error as Error)}`;
}

function innermost(error: Error): string {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error.cause;
  if (cause instanceof Error) return innermost(cause);
  // A host with several addresses that all refused the connection: the AggregateError itself has no message.
  if (error instanceof AggregateError) return error.errors.map((each) => innermost(each as Error)).join(', ');
  return error.message;
}
