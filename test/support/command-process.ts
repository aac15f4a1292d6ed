import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fromSource } from './from-source.js';
import { heldChild } from './held.js';
import { TEST_SECRETS_KEY, testServer } from './test-run.js';

export const newFolder = (): string => mkdtempSync(join(testServer().folder, 'folder-'));

/** The variables of a service on this database. */
export const variablesOf = (databaseUrl: string): NodeJS.ProcessEnv => ({
  DATABASE_URL: databaseUrl,
  SECRETS_KEY: TEST_SECRETS_KEY,
  DATA_DIR: newFolder(),
});

interface CommandProcess {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** The command line in a process of its own, as a shell runs it. */
export function startCommand(words: readonly string[], variables: NodeJS.ProcessEnv): CommandProcess {
  const child = spawn(process.execPath, [...fromSource('src/cli/main.ts'), ...words], {
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
