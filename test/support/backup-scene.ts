import { expect } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext, CommandResult } from '../../src/backup/commands.js';
import { backup } from '../../src/backup/commands.js';
import { type CommandOutcome, runCommand } from '../../src/backup/run-command.js';
import { fromSource } from './from-source.js';
import { heldChild } from './held.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { TEST_SECRETS_KEY, testServer, onServer } from './test-run.js';

export const newFolder = (): string => mkdtempSync(join(testServer().folder, 'backup-'));

/** The variables of a service on this database. */
export const variablesOf = (databaseUrl: string): NodeJS.ProcessEnv => ({
  DATABASE_URL: databaseUrl,
  SECRETS_KEY: TEST_SECRETS_KEY,
  DATA_DIR: newFolder(),
});

type Command = (context: CommandContext) => Promise<CommandResult>;

/** Runs a command in this process. */
export const run = (
  command: Command,
  databaseUrl: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<CommandOutcome> => runCommand(command, () => undefined, { ...variablesOf(databaseUrl), ...variables });

export async function succeed(command: Command, databaseUrl: string): Promise<CommandResult> {
  const outcome = await run(command, databaseUrl);
  if ('failure' in outcome) throw new Error(outcome.failure);
  return outcome.result;
}

export async function refusal(...call: Parameters<typeof run>): Promise<string> {
  const outcome = await run(...call);
  if ('result' in outcome) throw new Error(`not refused: ${outcome.result.sentence}`);
  return outcome.failure;
}

/** Backs a database up to a new file. */
export async function backupOf(databaseUrl: string): Promise<string> {
  const to = join(newFolder(), 'haulbridge.tar');
  await succeed((context) => backup({ to }, context), databaseUrl);
  return to;
}

export const emptyDatabase = (): Promise<TestDatabase> => createTestDatabase({ migrated: false });

/** The content of each table, the sequences, and the definitions of all indexes and constraints. */
export const contentOf = (databaseUrl: string, without: readonly string[] = []): Promise<Record<string, string>> =>
  onServer(databaseUrl, async (client) => {
    await client.query("SET TimeZone = 'UTC'");
    const all = async (sql: string) => (await client.query<{ name: string; text: string }>(sql)).rows;
    const tables = await all(
      `SELECT relname AS name, '' AS text FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    const content: Record<string, string> = {};
    for (const { name } of tables.filter((table) => !without.includes(table.name))) {
      const value = name === 'migrations' ? 'name' : 't::text';
      const [row] = await all(
        `SELECT count(*) || ' rows ' || coalesce(md5(string_agg(${value}, E'\\n' ORDER BY ${value})), '') AS text FROM "${name}" t`,
      );
      content[`table ${name}`] = row?.text ?? '';
    }
    const definitions = [
      `SELECT 'index ' || indexname AS name, indexdef AS text FROM pg_indexes WHERE schemaname = 'public'`,
      `SELECT 'constraint ' || conrelid::regclass || ' ' || conname AS name, pg_get_constraintdef(oid) || convalidated AS text
         FROM pg_constraint WHERE connamespace = 'public'::regnamespace`,
      `SELECT 'sequence ' || sequencename AS name, coalesce(last_value::text, '') AS text FROM pg_sequences
        WHERE schemaname = 'public' AND sequencename <> 'migrations_id_seq'`,
    ];
    for (const sql of definitions) for (const { name, text } of await all(sql)) content[name] = text;
    return content;
  });

/** Every relation of the database that a command could have written. */
export const relationsOf = (databaseUrl: string): Promise<string[]> =>
  onServer(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
       UNION ALL SELECT nspname FROM pg_namespace WHERE nspname LIKE 'haulbridge%'`,
    );
    return rows.map(({ name }) => name);
  });

export interface CommandProcess {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** The command line in a process of its own, as a shell runs it. */
export const startCommand = (
  words: readonly string[],
  variables: NodeJS.ProcessEnv,
  nodeOptions: readonly string[] = [],
): CommandProcess => startProgram('src/cli/main.ts', words, variables, nodeOptions);

export function startProgram(
  path: string,
  words: readonly string[],
  variables: NodeJS.ProcessEnv,
  nodeOptions: readonly string[] = [],
): CommandProcess {
  const child = spawn(process.execPath, [...nodeOptions, ...fromSource(path), ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      TMPDIR: testServer().folder,
      ...variables,
    },
  });
  // The embedded server of a command would outlive a kill.
  heldChild(child, 'SIGTERM');
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  return { child, output: () => text, ended };
}

export async function commandSucceeds(words: readonly string[], variables: NodeJS.ProcessEnv): Promise<string> {
  const { ended, output } = startCommand(words, variables);
  expect([await ended, output()]).toEqual([0, expect.any(String)]);
  return output();
}
