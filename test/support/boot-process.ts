import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fromSource } from './from-source.js';
import { heldChild } from './held.js';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a source with these variables alone, and waits for its end. The shell runs the command `first` before. */
export async function runToEnd(
  program: string,
  variables: Readonly<Record<string, string>>,
  first = ':',
): Promise<Ended> {
  const command = [process.execPath, ...fromSource(program)];
  const child = spawn('sh', ['-c', `${first} && exec "$@"`, 'sh', ...command], {
    env: { PATH: process.env['PATH'], ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // An embedded server would outlive a kill.
  heldChild(child, 'SIGTERM');
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}
