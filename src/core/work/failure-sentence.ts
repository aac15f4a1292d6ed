import type { Logger } from '@nestjs/common';
import { storableText } from '../../contracts/common/text.js';
import { outageOf } from '../database/outage.js';
import { isDatabaseSlow, isDatabaseUnavailable } from '../database/postgres-errors.js';
import { redactText } from '../observability/redaction.js';

const MAX_LENGTH = 1_000;

export interface FailureSentence {
  readonly text: string;
  readonly expected: boolean;
  /** The log already has the cause. */
  readonly isLogged?: boolean;
  /** For the log, of an unexpected error only. */
  readonly stack?: string;
}

/**
 * The text of an error that a row stores for an admin. An error with `expected: true`, such as a partner's failure, has a
 * message that is a sentence already. An unavailable database is expected as well; a slow statement may be our fault.
 * Secrets are removed, and query strings of URLs, because a URL may be signed.
 */
export function failureSentence(error: unknown): FailureSentence {
  const message = error instanceof Error ? error.message : String(error);
  // PostgreSQL stores no U+0000: with one the error itself could not be stored.
  const text = redactText(storableText(message)).slice(0, MAX_LENGTH);
  if (hasFlag(error, 'expected')) {
    return { text, expected: true, ...(hasFlag(error, 'isLogged') ? { isLogged: true } : {}) };
  }
  if (isDatabaseUnavailable(error) && !isDatabaseSlow(error)) {
    return { text: `The database was unavailable (${outageOf(error)}): ${text}`, expected: true };
  }
  return {
    text: `An unexpected error happened: ${text}`,
    expected: false,
    ...(error instanceof Error && error.stack !== undefined ? { stack: redactText(error.stack) } : {}),
  };
}

/** Logs one line: a warning for an expected failure, an error with its stack for an unexpected one. */
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

function hasFlag(error: unknown, name: 'expected' | 'isLogged'): boolean {
  return typeof error === 'object' && error !== null && (error as Partial<Record<string, unknown>>)[name] === true;
}
