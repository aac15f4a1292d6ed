import type { Command } from 'commander';
import type { CommandContext, CommandResult } from '../backup/commands.js';
import { CommandError, FAILURE, USAGE } from './command-error.js';
import { render } from './output.js';
import type { Streams } from './program.js';

const FROM = ['--from <place>', 'file or s3://bucket/key?endpoint=…&region=… of the backup'] as const;

/** The commands that open the database themselves, as DATABASE_URL or DATA_DIR names it. Their code is loaded when one runs. */
export function addDatabaseCommands(program: Command, streams: Streams): void {
  const backup = program
    .command('backup')
    .summary('Write a backup of the database')
    .description(
      'Writes all rows of one moment to one archive, while the service runs or not. Videos are listed and not copied. Needs DATABASE_URL and SECRETS_KEY of the service, or DATA_DIR with the embedded database.',
    )
    // Not required for Commander, which would require it of `backup verify` as well.
    .option('--to <place>', 'required: file, or s3://bucket/key?endpoint=…&region=…');
  onRun<{ to?: string }>(backup, streams, async ({ to }, context) => {
    if (to === undefined) throw new CommandError("required option '--to <place>' not specified", USAGE);
    return (await import('../backup/commands.js')).backup({ to }, context);
  });
  const verify = backup
    .command('verify')
    .summary('Prove that a backup can be restored')
    .description(
      'Restores a backup into a schema of its own, compares all rows, removes it, and records the time for /metrics. Changes nothing else.',
    )
    .requiredOption(...FROM);
  onRun<{ from: string }>(verify, streams, async (options, context) =>
    (await import('../backup/commands.js')).verify(options, context),
  );
  const restore = program
    .command('restore')
    .summary('Restore a backup into an empty database')
    .description(
      'Checks the whole backup, and refuses a database that is not empty, another SECRETS_KEY and the schema of a later version before anything is written. After a failure the database is empty again.',
    )
    .requiredOption(...FROM)
    .option('--database <url>', 'an empty database (default: DATABASE_URL, or the embedded one)')
    .option('--videos <url>', 'folder or s3:// address with the copied videos: names those that are missing')
    .option('--checksums', 'with --videos: read every video and compare its SHA-256');
  onRun(restore, streams, async (options: Parameters<typeof import('../backup/commands.js').restore>[0], context) =>
    (await import('../backup/commands.js')).restore(options, context),
  );
}

type Run<Options> = (options: Options, context: CommandContext) => Promise<CommandResult>;

export function onRun<Options>(command: Command, streams: Streams, run: Run<Options>): void {
  command.action(runOf(command, streams, run));
}

function runOf<Options>(command: Command, streams: Streams, run: Run<Options>): () => Promise<void> {
  return async () => {
    const { runCommand } = await import('../backup/run-command.js');
    const { json = false } = command.optsWithGlobals<{ readonly json?: boolean }>();
    const options = command.opts() as Options;
    const outcome = await runCommand((context) => run(options, context), streams.err);
    if ('failure' in outcome) throw new CommandError(outcome.failure, FAILURE);
    const { sentence, details, failure } = outcome.result;
    streams.out(json ? render(details, true) : `${sentence}\n`);
    if (failure !== undefined) throw new CommandError(failure, FAILURE);
  };
}
