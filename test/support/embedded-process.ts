import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { heldChild } from './held.js';

const ROOT = join(import.meta.dirname, '../..');

export interface EmbeddedProcess {
  readonly child: ChildProcess;
  /** The database's address, or undefined where the process ended instead. */
  readonly url: string | undefined;
  /** The text written to stderr so far. */
  readonly output: () => string;
  /** Resolves to the exit code, or to the name of the signal. */
  readonly ended: Promise<number | string>;
}

/** Runs an embedded PostgreSQL in a process of its own, from the sources in `root`. */
export async function runEmbedded(dataDir: string, root = ROOT): Promise<EmbeddedProcess> {
  const child = spawn(
    process.execPath,
    ['--preserve-symlinks', '--preserve-symlinks-main', join(root, 'test/support/embedded-main.mjs'), root, dataDir],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  // Its server would outlive a kill.
  heldChild(child, 'SIGTERM');
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const started = once(child.stdout.setEncoding('utf8'), 'data').then(([line]) => String(line).trim());
  const url = await Promise.race([started, ended.then(() => undefined)]);
  return { child, url, output: () => text, ended };
}

/** The process id of the server on this data folder, as the server itself says. */
export function serverPid(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended, and that nobody has asked about yet, has no command line.
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}
