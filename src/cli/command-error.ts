export const SUCCESS = 0;
export const FAILURE = 1;
export const USAGE = 2;

/** Ends a command with a sentence on standard error. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly exitCode: typeof FAILURE | typeof USAGE,
  ) {
    super(message);
  }
}
