import { readFileSync } from 'node:fs';

const STDIN = 0;

/** A secret cannot be read. The message is a sentence without the secret. */
export class SecretInputError extends Error {
  override readonly name = 'SecretInputError';
}

/**
 * A secret of a command line: `-` reads it from standard input and `@FILE` from a file, because every user of the machine
 * can read a command line. Any other text is the secret. Throws `SecretInputError`.
 */
export function readSecret(text: string): string {
  if (text === '-') return secretIn(STDIN, 'Standard input is empty: pipe the key into the command.');
  return text.startsWith('@') ? readSecretFile(text.slice(1)) : text;
}

export const readSecretFile = (file: string): string => secretIn(file, `The file ${file} is empty.`);

function secretIn(source: string | number, emptySentence: string): string {
  let text: string;
  try {
    text = readFileSync(source, 'utf8').trim();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const name = source === STDIN ? 'Standard input' : `The file ${source}`;
    throw new SecretInputError(`${name} cannot be read: ${code ?? message}.`);
  }
  if (text === '') throw new SecretInputError(emptySentence);
  return text;
}
