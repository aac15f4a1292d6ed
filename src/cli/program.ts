import { type AddHelpTextContext, Command, CommanderError, Option } from 'commander';
import { CommandError, FAILURE, SUCCESS, USAGE } from './command-error.js';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { findLocalService, type LocalService } from '../core/config/local-service.js';
import { type AdminCall, AdminCallError, type AdminClient } from './admin-client.js';
import type { ApiRoute } from '../contracts/common/api-contract.js';
import { NDJSON_TYPE } from '../contracts/common/csv.js';
import { ADMIN_ROUTES, type AdminRouteName } from '../contracts/admin/admin.api.js';
import type { Attention } from '../contracts/admin/attention.routes.js';
import type { HistoryEntry } from '../contracts/admin/history.dto.js';
import type { List } from '../contracts/admin/list.dto.js';
import type { SearchResults } from '../contracts/admin/search.routes.js';
import type { StorageCheck, StorageRepair } from '../contracts/admin/storage.routes.js';
import { visibleOutput, visibleText } from '../core/text/visible-text.js';
import { summarise } from '../contracts/common/violation.js';
import type {
  Exchange,
  ExchangeDetail,
  ExchangeList,
  ReplayedExchange,
  ReplayedExchanges,
} from '../contracts/admin/exchanges.routes.js';
import {
  exchangeLine,
  renderExchange,
  renderExchanges,
  renderHistory,
  renderReplay,
  renderReplays,
  tailExchanges,
} from './exchange-output.js';
import { BUNDLE_FILE, COMMAND_GROUPS, failureOf, renderAttention, storeBundle } from './commands.js';
import { addDatabaseCommands } from './database-commands.js';
import { argumentsOf, inCommandWords, optionsOf, pathOptionsOf } from './options.js';
import {
  exactValue,
  refuseDifferences,
  render,
  renderImport,
  reportDifferences,
  reportRepair,
  type Streams,
} from './output.js';
import { addImportOptions, importFolder } from './recording-import.js';
import { addTargetOptions, targetOf, type TargetOptions } from './service-target.js';

const page = (name: string): string => `docs/guides/${name}.md, which the service serves at /docs/guides/${name}`;

const BACKUP = `PostgreSQL's own tools back up and restore the database: read ${page('backup')}`;
const CELLS = `a hauler stays in its cell: read ${page('cells')}`;

/*
 * The command line: one command for each call of the admin API, made from the contract, and a few of its own. It is a client of a running
 * service, and knows nothing of the database, but for `database-commands.ts`.
 */

/** Commands of version 0.2 that are gone, by their group, with what to do instead. */
const REMOVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': { backup: BACKUP, restore: BACKUP },
  hauler: { export: CELLS, import: CELLS, release: CELLS, unlock: CELLS },
  retention: { preview: `retention set --dry-run shows what a setting would delete: read ${page('holds')}` },
};

/** Adds those of a group. They are in no help, and are refused whatever their arguments and options are. */
function addRemovedCommands(group: Command, name = ''): void {
  for (const [word, advice] of Object.entries(REMOVED[name] ?? {})) {
    group
      .command(word, { hidden: true })
      .allowUnknownOption()
      .allowExcessArguments()
      .helpOption(false)
      .action(() => {
        throw new CommandError(`${`${name} ${word}`.trim()} is no command any more: ${advice}`, FAILURE);
      });
  }
}

/** Two checks repaired with an option. */
function refuseRepair(command: Command): void {
  command.addOption(new Option('--repair').hideHelp()).on('option:repair', () => {
    const advice = `storage repair does it, with --dry-run as its preview: read ${page('operator')}`;
    throw new CommandError(`${command.name()} --repair is no command any more: ${advice}`, FAILURE);
  });
}

interface GlobalOptions extends TargetOptions {
  readonly json?: boolean;
}

/** Runs one command line and returns its exit code: 0 done, 1 refused or failed, 2 wrong call. */
export async function runCommandLine(
  words: readonly string[],
  { out, err }: Streams,
  local: LocalService = findLocalService(),
): Promise<number> {
  // Texts of partners must not control the terminal, whichever command prints them.
  const streams = {
    out: (text: string) => out(visibleOutput(text)),
    err: (text: string) => err(visibleOutput(text)),
  };
  try {
    await createProgram(streams, local).parseAsync(words, { from: 'user' });
    return SUCCESS;
  } catch (error) {
    // Commander printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : USAGE;
    const isExpected = error instanceof CommandError;
    streams.err(`error: ${isExpected ? visibleText(error.message) : ((error as Error).stack ?? String(error))}\n`);
    return isExpected ? error.exitCode : FAILURE;
  }
}

function createProgram(streams: Streams, local: LocalService): Command {
  const program = new Command('npm run cli --')
    .description('Administers haulbridge through its admin API.')
    .option('--json', 'print the JSON of the admin API');
  addTargetOptions(program);
  for (const [name, { description, commands }] of Object.entries(COMMAND_GROUPS)) {
    const group = program.command(name).description(description);
    for (const [word, route] of Object.entries(commands)) addCommand(group.command(word), route, streams, local);
    addRemovedCommands(group, name);
    if (name === 'action') addExport(group.command('export'), streams, local);
    if (name === 'exchange') {
      addTail(group.command('tail'), streams, local);
      addReplay(group.command('replay'), streams, local);
    }
  }
  addDatabaseCommands(program, streams);
  const doctor = program.command('doctor');
  addDoctor(doctor, streams, local);
  refuseRepair(doctor);
  addRemovedCommands(program);
  configure(program, streams);
  return program;
}

/** Commander copies its settings only to commands that are added later. */
function configure(command: Command, streams: Streams): void {
  command
    .exitOverride()
    .configureOutput({ writeOut: streams.out, writeErr: streams.err })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(--help shows the usage)')
    .addHelpText('before', refuseUnknownCommand);
  for (const inner of command.commands) configure(inner, streams);
}

/** Without this, Commander shows the help of the group for `hauler unknown --help`. */
function refuseUnknownCommand({ command }: AddHelpTextContext): string {
  const name = command.args.find((word) => !['-h', '--help', 'help'].includes(word));
  const isKnown = name === undefined || name.startsWith('-') || command.commands.some((each) => each.name() === name);
  if (command.commands.length > 0 && !isKnown) command.error(`error: unknown command '${name}'`);
  return '';
}

function addCommand(command: Command, name: AdminRouteName, streams: Streams, local: LocalService): void {
  const route = ADMIN_ROUTES[name];
  command.summary(route.summary).description(`${route.summary}. ${route.description}`);
  if (name === 'uploadHostedRecording') addImportOptions(command);
  else {
    for (const argument of argumentsOf(route)) command.argument(`<${argument.name}>`, argument.description);
    for (const option of optionsOf(route)) command.addOption(option);
  }
  if (name === 'checkStorage') refuseRepair(command);
  if (name === 'getHoldBundle') command.requiredOption(...BUNDLE_FILE);
  onAction(command, local, async (client, json) => {
    if (name === 'uploadHostedRecording') {
      const { data, failure } = await importFolder(client, command.args[0] ?? '', command.opts());
      streams.out(render({ data }, json));
      if (failure !== undefined) throw new CommandError(failure, FAILURE);
      return;
    }
    if (name === 'importAccounts') {
      const imported = await client.call('importAccounts', await callOf(route, command));
      streams.out(json ? render(imported, true) : renderImport(imported));
      const { invalid, conflict } = imported;
      if (invalid + conflict > 0) throw new CommandError(`${invalid + conflict} rows need a correction`, FAILURE);
      return;
    }
    if (name === 'getHoldBundle') return storeBundle(client, await callOf(route, command), streams);
    const response = await client.json(name, await callOf(route, command));
    if (response !== '') streams.out(json ? render(exactValue(response), true) : shown(name, response));
    if (name === 'checkStorage') {
      const check = JSON.parse(response) as StorageCheck;
      if (json) refuseDifferences(check);
      else reportDifferences(check, streams);
    }
    if (name === 'repairStorage' && !json) reportRepair(JSON.parse(response) as StorageRepair, streams);
  });
}

type Work = (client: AdminClient, json: boolean) => Promise<void>;

/** Runs a command with a client of the service. An error of the service is reported in the words of the command. */
function onAction(command: Command, local: LocalService, work: Work): void {
  command.action(() => callService(command, local, work));
}

async function callService(command: Command, local: LocalService, work: Work): Promise<void> {
  const { json = false, ...options } = command.optsWithGlobals<GlobalOptions>();
  const { client, advice } = targetOf(options, local);
  try {
    await work(client, json);
  } catch (error) {
    throw error instanceof AdminCallError ? commandError(error, command, advice) : error;
  }
}

/** Exchanges have too many fields for a table. */
function shown(name: AdminRouteName, response: string): string {
  if (name === 'listExchanges') return renderExchanges(JSON.parse(response) as ExchangeList);
  if (name === 'getExchange') return renderExchange(JSON.parse(response) as ExchangeDetail);
  if (name === 'search') return renderFound(JSON.parse(response) as SearchResults);
  if (name.endsWith('History')) return renderHistory(JSON.parse(response) as List<HistoryEntry>);
  return render(exactValue(response), false);
}

/** What was looked for, where nothing was found. */
function renderFound({ data, lookedFor }: SearchResults): string {
  return data.length > 0 ? render({ data }, false) : `Nothing found. Looked for:\n${lookedFor.join('\n')}\n`;
}

function addDoctor(command: Command, streams: Streams, local: LocalService): void {
  command
    .summary('Say what is wrong now, and whether anything is')
    .description(
      `${ADMIN_ROUTES.getAttention.description} Exits with 1 if something is lost or stands still, or will be, or could not be checked.`,
    );
  onAction(command, local, async (client, json) => {
    const response = await client.json('getAttention', {});
    const attention = JSON.parse(response) as Attention;
    streams.out(json ? render(exactValue(response), true) : renderAttention(attention));
    const failure = failureOf(attention);
    if (failure !== undefined) throw new CommandError(failure, FAILURE);
  });
}

/** The whole action log of a filter, one JSON text a line, printed as it arrives. */
function addExport(command: Command, streams: Streams, local: LocalService): void {
  const route = ADMIN_ROUTES.listActions;
  command
    .summary('Export the action log as one JSON text a line')
    .description('Export all actions of the filter, newest first, one JSON text a line. The export is an action too.');
  for (const option of optionsOf(route)) {
    if (!['page', 'pageSize'].includes(option.attributeName())) command.addOption(option);
  }
  onAction(command, local, async (client) => {
    const lines = client.stream('listActions', await callOf(route, command), NDJSON_TYPE);
    for await (const part of lines) streams.out(part);
  });
}

function addTail(command: Command, streams: Streams, local: LocalService): void {
  command.summary('Show the newest exchanges').description('Show the newest exchanges, oldest first, one line each.');
  for (const option of optionsOf(ADMIN_ROUTES.listExchanges)) {
    if (!['cursor', 'pageSize', 'from', 'to'].includes(option.attributeName())) command.addOption(option);
  }
  command.option('--follow', 'show each later exchange when it is written, until interrupted');
  onAction(command, local, (client, json) => {
    const { follow = false, ...filter } = command.opts<Record<string, unknown> & { follow?: boolean }>();
    const show = (exchange: Exchange) => streams.out(json ? `${JSON.stringify(exchange)}\n` : exchangeLine(exchange));
    return tailExchanges(client, texts(filter), follow, show);
  });
}

/** One exchange by its id, or many by filter. */
function addReplay(command: Command, streams: Streams, local: LocalService): void {
  const { description } = ADMIN_ROUTES.replayExchange;
  command
    .summary('Send requests again: of one exchange, or of all that match a filter')
    .description(
      `${description} Without <id>: ${ADMIN_ROUTES.replayExchanges.description} With <id>, --hauler-id is the hauler to push for.`,
    )
    .argument('[id]', 'Id of the exchange');
  for (const option of optionsOf(ADMIN_ROUTES.replayExchanges)) command.addOption(option);
  onAction(command, local, async (client, json) => {
    const [id] = command.args;
    const options = command.opts<Record<string, unknown>>();
    const others = Object.keys(options).filter((name) => name !== 'haulerId');
    if (id !== undefined && others.length > 0)
      throw new CommandError(inCommandWords(`${others.join(', ')} cannot be used with an id`, command), USAGE);
    const response =
      id === undefined
        ? await client.json('replayExchanges', { body: options })
        : await client.json('replayExchange', { params: { id }, body: options });
    if (json) streams.out(render(exactValue(response), true));
    else if (id === undefined) streams.out(renderReplays(JSON.parse(response) as ReplayedExchanges));
    else streams.out(renderReplay(JSON.parse(response) as ReplayedExchange));
    const { failed = [] } = JSON.parse(response) as Partial<ReplayedExchanges>;
    if (failed.length > 0) throw new CommandError(`${failed.length} requests could not be sent`, FAILURE);
  });
}

async function callOf(route: ApiRoute, command: Command): Promise<AdminCall> {
  const options = { ...command.opts<Record<string, unknown>>() };
  const params: Record<string, string> = {};
  argumentsOf(route).forEach(({ name }, i) => (params[name] = command.args[i] ?? ''));
  if (params['id'] === '') throw new CommandError('<id> must not be empty', USAGE);
  for (const name of pathOptionsOf(route)) {
    params[name] = String(options[name]);
    delete options[name];
  }
  if (route.upload !== undefined) {
    const upload = await openFile(params['file'] ?? '', route.upload.maxBytes);
    return { params, query: texts(options), upload };
  }
  return route.body === undefined ? { params, query: texts(options) } : { params, body: options };
}

const texts = (options: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));

async function openFile(file: string, maxBytes: number): Promise<NonNullable<AdminCall['upload']>> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${file} cannot be read: ${error.code ?? error.message}`, FAILURE);
  });
  if (!found.isFile()) throw new CommandError(`${file} cannot be read: it is not a file`, FAILURE);
  if (found.size > maxBytes) throw new CommandError(`${file} is larger than ${maxBytes} bytes`, FAILURE);
  return { content: createReadStream(file), sizeBytes: found.size };
}

function commandError(error: AdminCallError, command: Command, advice: string): CommandError {
  const { status, message, violations } = error;
  if (status === undefined) return new CommandError(message, FAILURE);
  if (status === 401) return new CommandError(`${message}: ${advice}`, FAILURE);
  const named = violations.map((each) => ({ ...each, message: inCommandWords(each.message, command) }));
  const sentence = named.length > 0 ? summarise(named) : inCommandWords(message, command);
  return new CommandError(sentence, status === 400 ? USAGE : FAILURE);
}
