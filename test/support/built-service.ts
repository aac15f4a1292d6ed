import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from './eventually.js';
import { heldChild } from './held.js';
import { TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, testServer } from './test-run.js';
import { observe } from './written-text.js';

const ROOT = join(import.meta.dirname, '../..');
const ADMIN_TOKEN = TEST_ADMIN_TOKEN;
/** Also of a busy machine. A service that does not listen by then fails its test, with its output. */
const START_LIMIT_MS = 40_000;

/** The built service in a process of its own, as `npm run start:prod` runs it. */
export interface BuiltService {
  readonly child: ChildProcess;
  readonly url: string;
  readonly dataDir: string;
  readonly adminToken: string;
  /** The text written to stdout and stderr so far. */
  output(): string;
  /** A call of the admin API, `path` below `/admin/v1`. */
  admin<Body>(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  /** Sends a signal and waits for the end, and for the sockets to be closed; resolves to the exit code or the signal. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
}

export interface BuiltServiceOptions {
  readonly databaseUrl: string;
  /** Shared by several instances on one database. */
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node.js, as an operator may add them. */
  readonly nodeOptions?: readonly string[];
  /** The output is also appended to this file. */
  readonly logFile?: string;
  /** Required for `liveMemory`. */
  readonly memoryProbe?: boolean;
  /** A small file system in memory, which only the service sees. Needs `canMount`. */
  readonly smallDisk?: { readonly folder: string; readonly mib: number };
}

/** An ordinary user mounts in a user name space of its own, where Linux allows it. */
const UNSHARE = process.getuid?.() === 0 ? '-m' : '-rm';

/** Whether this process may mount file systems. */
export const canMount = (): boolean => spawnSync('unshare', [UNSHARE, 'true']).status === 0;

/** Resolves when the service listens. Rejects with its output if it ends. `npm test` builds it before. */
export async function startService(options: BuiltServiceOptions): Promise<BuiltService> {
  const dataDir = options.dataDir ?? mkdtempSync(join(testServer().folder, 'service-'));
  const node = [process.execPath, ...(options.nodeOptions ?? []), ...imports(options), join(ROOT, 'dist/src/main.js')];
  const [program = '', ...parameters] = options.smallDisk === undefined ? node : onSmallDisk(options.smallDisk, node);
  const child = spawn(program, parameters, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment(options, dataDir),
  });
  heldChild(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-2_000_000);
      if (options.logFile !== undefined) appendFileSync(options.logFile, chunk);
    });
  }
  observe(options.databaseUrl, 'the output', () => logLines(text));
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const limit = delay(START_LIMIT_MS, undefined, { ref: false });
  const url = await Promise.race([listening(child), ended.then(() => undefined), limit]);
  if (url === undefined) throw new Error(`the service did not start: ${text}`);
  return {
    child,
    url,
    dataDir,
    adminToken: ADMIN_TOKEN,
    output: () => text,
    admin: (method, path, body) => admin(url, method, path, body),
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Without the text of the demo, which shows its keys on purpose. */
export const logLines = (output: string): string => output.replace(/^(?![{A-Z]).*$/gm, '');

function onSmallDisk({ folder, mib }: { folder: string; mib: number }, command: readonly string[]): string[] {
  const mount = `mount -t tmpfs -o size=${mib}m,mode=755 none "$1" && shift && exec "$@"`;
  return ['unshare', UNSHARE, 'sh', '-c', mount, 'sh', folder, ...command];
}

function imports({ memoryProbe = false }: BuiltServiceOptions): string[] {
  const files = ['leash.mjs', ...(memoryProbe ? ['memory-probe.mjs'] : [])];
  return files.flatMap((file) => ['--import', join(import.meta.dirname, file)]);
}

/** Live memory in bytes: heap and buffers after a garbage collection. */
export async function liveMemory(service: BuiltService): Promise<number> {
  const reports = () => [...service.output().matchAll(/^live memory (\d+)$/gm)].map(([, bytes]) => Number(bytes));
  const before = reports().length;
  service.child.kill('SIGUSR2');
  return eventually(() => {
    const found = reports();
    if (found.length === before) throw new Error('the service has not reported its memory');
    return found.at(-1) ?? 0;
  });
}

/** From now on `peakMemory` counts anew. */
export const resetPeakMemory = ({ child }: BuiltService): void => writeFileSync(`/proc/${child.pid}/clear_refs`, '5');

/** The highest resident memory since its start, in bytes. Linux only. */
export function peakMemory({ child }: BuiltService): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** The value of a metric without labels. */
export async function gauge({ url }: BuiltService, name: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text())?.[1]);
}

function environment({ databaseUrl, env }: BuiltServiceOptions, dataDir: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    // The run removes files of killed processes there.
    TMPDIR: testServer().folder,
    PORT: '0',
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ADMIN_TOKEN,
    SECRETS_KEY: TEST_SECRETS_KEY,
    LOG_LEVEL: 'warn',
    DEMO: 'false',
    OUTBOUND_ALLOW_PRIVATE: 'true',
    ...env,
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.on('data', (chunk: string) => {
      text += chunk;
      const [, url] = /listens on (http:\S+)\n/.exec(text) ?? [];
      if (url !== undefined) resolve(url);
      // Not before it was looked at: what a verbose log writes at once may be longer than this.
      text = text.slice(-1_000);
    });
  });
}

async function admin<Body>(url: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body };
}
