import { type DtoClass, readerOf } from '../contracts/common/reader.js';
import type { Violation } from '../contracts/common/violation.js';
import { invalid } from '../errors/app-error.js';

/**
 * A command's options, held to the same class as the body of the admin API: options are named as its fields,
 * `--hauler-id` for `haulerId`.
 */
export function readInput<T extends object>(type: DtoClass<T>, options: object): T {
  const violations: Violation[] = [];
  const result = readerOf(type)(options, '', violations);
  if (violations.length > 0) throw invalid(violations);
  return result;
}

/** `a,b` as a list, for an option that takes several values. */
export function commaSeparated(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
