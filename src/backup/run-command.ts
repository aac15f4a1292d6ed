import { failureOf } from './failure-sentence.js';

/** What a command prints with `--json`; `sentence` is for people. */
export interface CommandResult {
  readonly sentence: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** The command has found something wrong. */
  readonly failure?: string;
}

export type CommandOutcome = { readonly result: CommandResult } | { readonly failure: string };

export async function runCommand(command: () => Promise<CommandResult>): Promise<CommandOutcome> {
  try {
    return { result: await command() };
  } catch (error) {
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    return { failure };
  }
}
