import { type AddHelpTextContext, Command, CommanderError } from 'commander';
import { reasonOf } from '../database/reason.js';
import { AppError } from '../errors/app-error.js';
import { StorageUnavailable } from '../storage/storage-errors.js';
import { accountCommands } from './account.commands.js';
import { kioskCommands, materialCommands, siteCommands } from './catalog.commands.js';
import { actionOn, type CommandGroup, type Streams } from './command-line.js';
import { CommandFailed } from './command-failed.js';
import { connectionCommands } from './connection.commands.js';
import { doctorCommands } from './doctor.commands.js';
import { haulerCommands } from './hauler.commands.js';
import { hostedCameraCommands, hostedSiteDataCommands, hostedVideoRequestCommands } from './hosted.commands.js';
import { keyCommands } from './key.commands.js';
import { syncRunCommands } from './sync-run.commands.js';
import { ticketCommands } from './ticket.commands.js';
import {
  coverageCommands,
  recordingCommands,
  retentionCommands,
  videoRequestCommands,
  visionFindingCommands,
} from './video.commands.js';
import { videoSubscriptionCommands } from './video-subscription.commands.js';

const GROUPS: readonly CommandGroup[] = [
  haulerCommands,
  keyCommands,
  ticketCommands,
  accountCommands,
  connectionCommands,
  doctorCommands,
  syncRunCommands,
  siteCommands,
  kioskCommands,
  materialCommands,
  videoRequestCommands,
  videoSubscriptionCommands,
  recordingCommands,
  coverageCommands,
  visionFindingCommands,
  retentionCommands,
  hostedSiteDataCommands,
  hostedCameraCommands,
  hostedVideoRequestCommands,
];

const SUCCESS = 0;
const FAILURE = 1;
const USAGE = 2;

/** What asks for help, and is no name. */
const HELP = ['-h', '--help', 'help'];

/** Runs one command line, without the program's name, and returns its exit code: 0, 1 failure, 2 wrong usage. */
export async function runCommandLine(words: readonly string[], streams: Streams): Promise<number> {
  try {
    await createProgram(streams).parseAsync(words, { from: 'user' });
    return SUCCESS;
  } catch (error) {
    // Commander has said what is wrong, or was asked for help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : USAGE;
    streams.err(`error: ${reasonOf(error, AppError, CommandFailed, StorageUnavailable)}\n`);
    return error instanceof AppError && error.kind === 'invalid' ? USAGE : FAILURE;
  }
}

function createProgram(streams: Streams): Command {
  const program = new Command('npm run cli --')
    .description('Administers haulbridge: the same as the admin API does, straight on its database.')
    .option('--json', 'answer in JSON, as the admin API does');
  const action = actionOn(streams);
  for (const group of GROUPS) program.addCommand(group(action));
  settle(program, streams);
  return program;
}

/** Commander hands its settings only to commands that it makes itself. */
function settle(command: Command, { out, err }: Streams): void {
  command
    .exitOverride()
    .configureOutput({ writeOut: out, writeErr: err })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(--help tells more)')
    .addHelpText('before', refuseUnknown);
  for (const inner of command.commands) settle(inner, { out, err });
}

/** Commander shows the help of a group to whoever asks for that of a command which the group does not have. */
function refuseUnknown({ command }: AddHelpTextContext): string {
  const name = command.args.find((word) => !HELP.includes(word));
  const isUnknown =
    name !== undefined && !name.startsWith('-') && command.commands.every((known) => known.name() !== name);
  if (command.commands.length > 0 && isUnknown) command.error(`error: unknown command '${name}'`);
  return '';
}
