import { join } from 'node:path';
import type { CommandContext, CommandResult } from '../../src/backup/commands.js';
import { type CommandOutcome, runCommand } from '../../src/backup/run-command.js';
import { startTestApp, type TestApp } from './app.js';
import { newFolder } from './backup-scene.js';
import { TEST_SECRETS_KEY } from './test-run.js';

export const OTHER_SECRETS_KEY = 'c3'.repeat(32);

/** Two cells with databases, storages and keys of their own. */
export async function startCells(): Promise<{ source: TestApp; target: TestApp }> {
  const env = { OUTBOUND_ALLOW_PRIVATE: true };
  const source = await startTestApp({ env: { ...env, CELL: 'a' } });
  const target = await startTestApp({
    env: { ...env, CELL: 'b', SECRETS_KEY: Buffer.from(OTHER_SECRETS_KEY, 'hex') },
  });
  return { source, target };
}

/** The environment of a command on a cell. `SOURCE_SECRETS_KEY` is that of the other one. */
export const variablesOfCell = ({ env }: TestApp): Record<string, string> => {
  const own = env.SECRETS_KEY.toString('hex');
  return {
    DATABASE_URL: env.DATABASE_URL,
    DATA_DIR: env.DATA_DIR,
    STORAGE_URL: env.STORAGE_URL,
    SECRETS_KEY: own,
    SOURCE_SECRETS_KEY: own === TEST_SECRETS_KEY ? OTHER_SECRETS_KEY : TEST_SECRETS_KEY,
    CELL: env.CELL ?? '',
  };
};

type Command = (context: CommandContext) => Promise<CommandResult>;

export const runOn = (cell: TestApp, command: Command, variables: NodeJS.ProcessEnv = {}): Promise<CommandOutcome> =>
  runCommand(command, () => undefined, { ...variablesOfCell(cell), ...variables });

export async function succeedOn(cell: TestApp, command: Command): Promise<CommandResult> {
  const outcome = await runOn(cell, command);
  if ('failure' in outcome) throw new Error(outcome.failure);
  return outcome.result;
}

export const newArchive = (): string => join(newFolder(), 'hauler.tar');
