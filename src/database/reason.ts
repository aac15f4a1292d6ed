import { QueryFailedError } from 'typeorm';
import { InvalidEnvironment } from '../config/env.js';
import { StartupError } from '../config/startup-error.js';
import { isDatabaseSlow, isDatabaseUnavailable } from './postgres-errors.js';

type ErrorType = abstract new (...input: never[]) => Error;

/**
 * What to tell an operator of an error: one sentence where it is expected, all of it where it is not. What else than a
 * refused start or a failure of the system is expected is for the program to say.
 */
export function reasonOf(error: unknown, ...expected: readonly ErrorType[]): string {
  if (!(error instanceof Error)) return String(error);
  const away = databaseAway(error);
  if (away !== undefined) return away;
  const isExpected = [StartupError, InvalidEnvironment, ...expected].some((type) => error instanceof type);
  return isExpected || isOfTheSystem(error) ? error.message : (error.stack ?? error.message);
}

/** An error of the system that Node.js describes in a sentence: `ENOSPC: no space left on device, write`. */
const isOfTheSystem = (error: Error): boolean => 'errno' in error && 'syscall' in error;

/** One sentence that names the variable, where the database is what failed. */
function databaseAway(error: unknown): string | undefined {
  if (!isDatabaseUnavailable(error)) return undefined;
  const what = isDatabaseSlow(error) ? 'did not answer in time' : 'cannot be reached';
  return `DATABASE_URL: the database ${what}: ${innermost(error as Error)}`;
}

function innermost(error: Error): string {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error.cause;
  if (cause instanceof Error) return innermost(cause);
  // A name with several addresses, none of which took the connection: the sum of them has no message.
  if (error instanceof AggregateError) return error.errors.map((each) => innermost(each as Error)).join(', ');
  return error.message;
}
