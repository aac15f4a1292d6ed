import type { Logger } from '@nestjs/common';
import { storableText } from '../contracts/common/text.js';
import { isDatabaseSlow, isDatabaseUnavailable } from '../database/postgres-errors.js';
import { redactUrls } from '../outbound/redaction.js';

/** The longest sentence that a row keeps, in characters. */
const LONGEST = 1_000;

export interface FailureSentence {
  readonly text: string;
  readonly expected: boolean;
  /** What brought it about stands in the log already. */
  readonly isLogged?: boolean;
  /** For the log, of a surprise only. */
  readonly stack?: string;
}

/**
 * What a row keeps of an error, for an admin. An error is expected where it says so (`expected`), as a partner's
 * failures do: its message is then a sentence already. That the database is away is expected too; a statement that took
 * too long may be a fault of ours. Links are cut, for they may be signed.
 */
export function failureSentence(error: unknown): FailureSentence {
  const message = error instanceof Error ? error.message : String(error);
  // PostgreSQL text holds no U+0000, and an error that could not be stored would be lost.
  const text = redactUrls(storableText(message)).slice(0, LONGEST);
  if (says(error, 'expected')) return { text, expected: true, ...(says(error, 'isLogged') ? { isLogged: true } : {}) };
  if (isDatabaseUnavailable(error) && !isDatabaseSlow(error))
    return { text: `The database was away: ${text}`, expected: true };
  return {
    text: `An unexpected error happened: ${text}`,
    expected: false,
    ...(error instanceof Error && error.stack !== undefined ? { stack: redactUrls(error.stack) } : {}),
  };
}

/** One line for each failure that the log does not tell of yet: a warning of what is expected, all of a surprise. */
export function logFailure(
  logger: Logger,
  subject: string,
  { text, expected, isLogged, stack }: FailureSentence,
): void {
  const line = `${subject}: ${text}`;
  if (isLogged === true) logger.debug(line);
  else if (expected) logger.warn(line);
  else logger.error(line, stack);
}

function says(error: unknown, what: 'expected' | 'isLogged'): boolean {
  return typeof error === 'object' && error !== null && (error as Partial<Record<string, unknown>>)[what] === true;
}
