import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ResolvedEnv } from '../../src/core/config/env.js';
import { fromSource } from './from-source.js';
import { heldChild } from './held.js';
import { testServer } from './test-run.js';
import { observe } from './written-text.js';

const LEASH = join(import.meta.dirname, 'leash.mjs');

export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** The text written to standard output so far. */
  readonly output: () => string;
  /** Resolves to the exit code, or to the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** A second instance of a test's service, in a process of its own that may be killed; resolves once it listens. */
export async function startServiceProcess(
  env: Pick<ResolvedEnv, 'DATABASE_URL' | 'DATA_DIR' | 'ADMIN_TOKEN' | 'SECRETS_KEY'>,
  variables: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--import', LEASH, ...fromSource('src/main.ts')], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      // The run removes files of killed processes there.
      TMPDIR: testServer().folder,
      DATABASE_URL: env.DATABASE_URL,
      DATA_DIR: env.DATA_DIR,
      ADMIN_TOKEN: env.ADMIN_TOKEN,
      SECRETS_KEY: env.SECRETS_KEY.toString('hex'),
      PORT: '0',
      LOG_LEVEL: 'silent',
      OUTBOUND_ALLOW_PRIVATE: 'true',
      ...variables,
    },
  });
  heldChild(child);
  let [text, failed] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (failed += chunk));
  observe(env.DATABASE_URL, 'the output', () => text + failed);
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  // Its log comes the same way, and may come first.
  const listens = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const url = /listens on (http:\S+)\n/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const url = await Promise.race([listens, ended.then(() => undefined)]);
  if (url === undefined) throw new Error(`the service ended: ${failed}`);
  return { child, url, output: () => text, ended };
}
