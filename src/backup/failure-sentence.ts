import { StartupError } from '../config/startup-error.js';
import { isDatabaseUnavailable, sqlState } from '../database/postgres-errors.js';
import { reasonOf } from '../database/reason.js';
import { isStorageError } from '../storage/storage-errors.js';

/** One sentence if an operator can remove the reason. */
export function failureOf(error: unknown): string | undefined {
  if (error instanceof StartupError || isStorageError(error)) return (error as Error).message;
  if (isDatabaseUnavailable(error) || isErrorOfSystem(error)) return reasonOf(error);
  return sqlState(error) === undefined ? undefined : `the database refused it: ${(error as Error).message}`;
}

const isErrorOfSystem = (error: unknown): boolean => error instanceof Error && 'errno' in error && 'syscall' in error;
