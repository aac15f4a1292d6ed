import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { childEnv } from '../core/config/child-env.js';
import { StartupError } from '../core/config/startup-error.js';

/** The contents of `postmaster.pid`, which a running server writes into its data folder. */
interface Postmaster {
  readonly pid: number;
  readonly ready: boolean;
  readonly port: number;
}

/** Undefined if the file does not exist or is not complete. */
export function readPostmaster(folder: string): Postmaster | undefined {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number.parseInt(lines[0] ?? '', 10);
    return pid > 0 ? { pid, ready: lines[7]?.trim() === 'ready', port: Number(lines[3]) } : undefined;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** The port of the server of this folder that takes connections; undefined if none runs. */
export function runningPort(folder: string): number | undefined {
  const postmaster = readPostmaster(folder);
  return postmaster?.ready === true && serves(postmaster.pid, folder) ? postmaster.port : undefined;
}

/**
 * Stops the server that a killed haulbridge left on this folder, and returns its process id. The caller must hold the
 * lock of the folder, so that no other haulbridge owns that server. The server is not adopted, because Node.js reports the
 * end and the log only of a child process. Without connections it stops within milliseconds.
 */
export async function stopOrphan(folder: string): Promise<number | undefined> {
  const pid = readPostmaster(folder)?.pid;
  if (pid === undefined) return undefined;
  if (!serves(pid, folder)) {
    // Another process may have the id now, and PostgreSQL would treat it as a running server.
    rmSync(join(folder, 'postmaster.pid'), { force: true });
    return undefined;
  }
  for (const [signal, timeoutMs] of STOP_SIGNALS) {
    process.kill(pid, signal);
    for (const end = Date.now() + timeoutMs; Date.now() < end;) {
      if (!serves(pid, folder)) return pid;
      await delay(5);
    }
  }
  throw new StartupError(`the PostgreSQL of process ${pid} on ${folder} does not end`);
}

/** Fast shutdown, immediate shutdown (PostgreSQL manual, 18.5), kill; each with its timeout. */
export const STOP_SIGNALS: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 2_000],
];

/** The `cluster_name` of the server of this folder, unique on this machine. It identifies the process later. */
export function clusterName(folder: string): string {
  const { dev, ino } = statSync(folder);
  return `haulbridge-${dev.toString(36)}-${ino.toString(36)}`;
}

/** Whether the process is alive and is the server of this folder, and not another process with the same id. */
function serves(pid: number, folder: string): boolean {
  return commandOf(pid).includes(`cluster_name=${clusterName(folder)}`);
}

/** The command line of a running process, or an empty text. */
function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', env: childEnv() });
  } catch {
    return '';
  }
}
