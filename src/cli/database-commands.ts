import type { Command } from 'commander';
import { readCommandEnv } from '../config/command-env.js';
import { StartupError } from '../config/startup-error.js';
import { CommandError, FAILURE } from './command-error.js';
import { render } from './output.js';
import type { Streams } from './program.js';

export interface DoctorCommand {
  readonly doctor: Command;
  readonly examine: () => Promise<void>;
}

interface OutputOptions {
  readonly json?: boolean;
}

/** The commands that open the database themselves, as DATABASE_URL or DATA_DIR names it. Their code is loaded when one runs. */
export function addDatabaseCommands(program: Command, streams: Streams): DoctorCommand {
  addDatabaseUrl(program.command('database').description('the database of the service').command('url'), streams);
  const doctor = program
    .command('doctor')
    .summary('Check the database and the storage')
    .description(
      'Shows version and role of the database, replication, migrations, partitions, due work, storage and the clock, one line each. Exits with 1 if something is to be put right. Changes nothing.',
    );
  return { doctor, examine: () => examineOf(doctor, streams) };
}

function addDatabaseUrl(command: Command, streams: Streams): void {
  command
    .summary('Print the address of the database, for psql and pg_dump')
    .description(
      'Prints DATABASE_URL, or the address of the embedded database under DATA_DIR, with its password, while the service runs on it.',
    )
    .action(async () => {
      const { json = false } = command.optsWithGlobals<OutputOptions>();
      const url = await databaseUrl();
      streams.out(json ? render({ url }, true) : `${url}\n`);
    });
}

async function databaseUrl(): Promise<string> {
  try {
    const { DATABASE_URL, DATA_DIR } = readCommandEnv();
    if (DATABASE_URL !== undefined) return DATABASE_URL;
    const { runningServerUrl } = await import('../embedded-postgres/running-server.js');
    const url = runningServerUrl(DATA_DIR);
    if (url !== undefined) return url;
    throw new CommandError(
      `no embedded database runs on DATA_DIR ${DATA_DIR}: start the service, or set DATA_DIR to that of the service`,
      FAILURE,
    );
  } catch (error) {
    throw error instanceof StartupError ? new CommandError(error.message, FAILURE) : error;
  }
}

async function examineOf(command: Command, streams: Streams): Promise<void> {
  const [{ runCommand }, { doctor }] = await Promise.all([
    import('../backup/run-command.js'),
    import('../backup/doctor.js'),
  ]);
  const { json = false } = command.optsWithGlobals<OutputOptions>();
  const outcome = await runCommand(doctor);
  if ('failure' in outcome) throw new CommandError(outcome.failure, FAILURE);
  const { sentence, details, failure } = outcome.result;
  streams.out(json ? render(details, true) : `${sentence}\n`);
  if (failure !== undefined) throw new CommandError(failure, FAILURE);
}
