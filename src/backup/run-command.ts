import { BackupError } from './backup-error.js';
import { failureOf } from './failure-sentence.js';
import type { CommandContext, CommandResult } from './commands.js';
import { Progress } from './progress.js';

export type CommandOutcome = { readonly result: CommandResult } | { readonly failure: string };

/** Runs a command. A signal ends it in an orderly way, so that it leaves no part of an archive. */
export async function runCommand(
  command: (context: CommandContext) => Promise<CommandResult>,
  print: (text: string) => void,
  source?: NodeJS.ProcessEnv,
): Promise<CommandOutcome> {
  const controller = new AbortController();
  const abort = () => controller.abort(new BackupError('interrupted'));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, abort);
  try {
    return { result: await command({ source, progress: new Progress(print), signal: controller.signal }) };
  } catch (error) {
    if (controller.signal.aborted) return { failure: 'interrupted' };
    const failure = failureOf(error);
    if (failure === undefined) throw error;
    return { failure };
  } finally {
    for (const signal of signals) process.removeListener(signal, abort);
  }
}
