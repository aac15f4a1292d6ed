import type { Command } from 'commander';
import { givenDatabaseUrl, readCommandEnv } from '../core/config/env.js';
import { StartupError } from '../core/config/startup-error.js';
import { CommandError, FAILURE } from './command-error.js';
import { render, type Streams } from './output.js';

interface OutputOptions {
  readonly json?: boolean;
}

/** The commands that open the database themselves, as DATABASE_URL or DATA_DIR names it. Their code is loaded when one runs. */
export function addDatabaseCommands(program: Command, streams: Streams): void {
  addDatabaseUrl(program.command('database').description('the database of the service').command('url'), streams);
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
    // As it was given: psql reads `sslmode` in its own way.
    if (DATABASE_URL !== undefined) return givenDatabaseUrl() ?? DATABASE_URL;
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
