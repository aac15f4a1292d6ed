import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { heldChild } from '../../support/held.js';
import type { Service } from './target.js';

const PROGRAM = join(import.meta.dirname, '../../../dist/src/cli/main.js');

const BASE = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

/** Runs one command as a shell does. */
export async function run(
  words: readonly string[],
  { env = {}, input = '' }: { env?: NodeJS.ProcessEnv; input?: string } = {},
) {
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    env: { ...BASE, DATA_DIR: mkdtempSync(join(tmpdir(), 'cli-')), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  heldChild(child);
  child.stdin.end(input);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, out, err };
}

/** `doctor` of a service, as an operator runs it. */
export const doctor = ({ url, adminToken }: Service, ...words: string[]) =>
  run(['doctor', ...words], { env: { HAULBRIDGE_URL: url, HAULBRIDGE_TOKEN: adminToken } });
