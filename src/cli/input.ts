import type { Command } from 'commander';
import { IdParam } from '../contracts/admin/list.dto.js';
import { type DtoClass, readerOf } from '../contracts/common/reader.js';
import { summarise, type Violation } from '../contracts/common/violation.js';
import { AppError, invalid } from '../errors/app-error.js';

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

/** The argument `<id>` of a command. */
export const idOf = (id: string): string => readInput(IdParam, { id }).id;

/** `a,b` as a list, for an option that takes several values. */
export function commaSeparated(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A refusal in the words of the command: `--hauler-id` where the admin API says `haulerId`, `<id>` for an argument. */
export function inOptions(error: unknown, command: Command): unknown {
  if (!(error instanceof AppError)) return error;
  const names = namesOf(command);
  const violations = (error.details?.['violations'] ?? []) as readonly Violation[];
  const told = violations.map((violation) => ({ ...violation, message: renamed(violation.message, names) }));
  const message = told.length > 0 ? summarise(told) : renamed(error.message, names);
  return new AppError(error.kind, message, { cause: error });
}

const namesOf = (command: Command): ReadonlyMap<string, string> =>
  new Map([
    ...command.registeredArguments.map((argument) => [argument.name(), `<${argument.name()}>`] as const),
    ...command.options.map((option) => [option.attributeName(), option.long ?? option.flags] as const),
  ]);

/** A name of one word may be a plain word of the sentence: it is one only where the sentence begins with it. */
const renamed = (sentence: string, names: ReadonlyMap<string, string>): string =>
  sentence.replace(/^[a-z]+\b|\b[a-z]+[A-Z][A-Za-z]*\b/g, (word) => names.get(word) ?? word);
