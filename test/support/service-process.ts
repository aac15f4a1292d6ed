import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { SettledEnv } from '../../src/config/env.js';
import { heldChild } from './held.js';

export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Resolves to the exit code, or to the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** A second instance of a test's service, in a process of its own that may be killed; resolves once it listens. */
export async function startServiceProcess(
  env: Pick<SettledEnv, 'DATABASE_URL' | 'DATA_DIR' | 'ADMIN_TOKEN' | 'SECRETS_KEY'>,
  variables: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'service-main.mjs')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
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
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const listens = once(child.stdout.setEncoding('utf8'), 'data').then(([line]) => /http:\S+/.exec(String(line))?.[0]);
  const url = await Promise.race([listens, ended.then(() => undefined)]);
  if (url === undefined) throw new Error(`the service ended: ${said}`);
  return { child, url, ended };
}
