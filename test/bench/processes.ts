import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from './cleanup.js';
import type { BenchDatabase } from './database.js';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Service {
  readonly url: string;
  readonly pid: number;
  readonly adminToken: string;
  /** The response to a call of the admin API, `path` below `/admin/v1`. Throws if the service refuses the call. */
  call(method: string, path: string, body?: object): Promise<Response>;
  /** The same, as JSON. */
  admin<T>(method: string, path: string, body?: object): Promise<T>;
  stop(): Promise<void>;
}

const ADMIN_TOKEN = 'bench-admin-token-of-this-run';

/** The built service in production mode over the benchmark's database; its log goes to a file, as in production. */
export async function startService(
  database: Pick<BenchDatabase, 'url' | 'folder'>,
  env: Record<string, string> = {},
): Promise<Service> {
  const log = join(database.folder, `service-${Date.now()}.log`);
  const out = openSync(log, 'w');
  const child = spawn(process.execPath, ['dist/src/main.js'], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PORT: '0',
      DATABASE_URL: database.url,
      DATA_DIR: database.folder,
      ADMIN_TOKEN,
      SECRETS_KEY: '0123456789abcdef'.repeat(4),
      ...env,
    },
    stdio: ['ignore', out, 'inherit'],
  });
  const stop = stopping(child);
  const url = await untilListening(child, log);
  const call: Service['call'] = (method, path, body) => callAdmin(url, method, path, body);
  return {
    url,
    pid: child.pid ?? 0,
    adminToken: ADMIN_TOKEN,
    call,
    admin: async <T>(...given: Parameters<typeof call>) => (await (await call(...given)).json()) as T,
    stop,
  };
}

async function callAdmin(url: string, method: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** A program of ours that prints its address; its arguments are as given. */
export async function startPeer(file: string, ...parameters: string[]): Promise<{ url: string; pid: number }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'peers', file), ...parameters], {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stopping(child);
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { url: line.trim(), pid: child.pid ?? 0 };
}

function stopping(child: ChildProcess): () => Promise<void> {
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    awaken(child.pid ?? 0);
    await ended;
  };
  atEnd(stop);
  return stop;
}

/** Suspends a process and its children, so that they take no processor time from the measured one. */
export function putToSleep(pid: number): void {
  for (const one of [pid, ...childrenOf(pid).map(Number)]) process.kill(one, 'SIGSTOP');
}

export function awaken(pid: number): void {
  for (const one of [pid, ...childrenOf(pid).map(Number)]) process.kill(one, 'SIGCONT');
}

async function untilListening(child: ChildProcess, log: string): Promise<string> {
  while (child.exitCode === null) {
    const [, url] = /listens on (http:\S+)/.exec(readFileSync(log, 'utf8')) ?? [];
    if (url !== undefined) return url;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`the service did not start: ${readFileSync(log, 'utf8')}`);
}

/** What Linux counts processor time in. */
const TICKS_PER_SECOND = 100;

/** Processor time of a process and of all that it ever started, in milliseconds. */
export function processorMs(pid: number): number {
  const own = stat(String(pid));
  if (own === undefined) throw new Error(`process ${pid} has ended`);
  return own.ms + own.endedChildrenMs + childrenOf(pid).reduce((sum, child) => sum + (stat(child)?.ms ?? 0), 0);
}

/** Resident set in MB of a process and its children. */
export function rssMb(pid: number): number {
  const kilobytes = [String(pid), ...childrenOf(pid)].map((one) => {
    const status = readFileSync(`/proc/${one}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
  });
  return kilobytes.reduce((sum, each) => sum + each, 0) / 1024;
}

/** The highest resident set in MB of a process alone. */
export function peakRssMb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function childrenOf(pid: number): string[] {
  return readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && stat(entry)?.parent === pid);
}

function stat(pid: string): { parent: number; ms: number; endedChildrenMs: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name of the program may hold anything; what follows it does not.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ms = (...indexes: number[]) =>
    indexes.reduce((sum, i) => sum + (fields[i] ?? 0), 0) * (1000 / TICKS_PER_SECOND);
  return { parent: fields[1] ?? 0, ms: ms(11, 12), endedChildrenMs: ms(13, 14) };
}
