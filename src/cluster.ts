import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ResolvedEnv } from './config/env.js';
import { withoutSecretFiles } from './config/secret-files.js';
import { StartupError } from './config/startup-error.js';
import { inBackground } from './errors/background.js';

/** Delay before a worker is replaced. It doubles with each failure in a row. */
const MIN_RESTART_DELAY_MS = 100;
const MAX_RESTART_DELAY_MS = 5_000;

/** After this uptime a failure counts as the first in a row. */
const STABLE_MS = 30_000;

interface Forked {
  readonly worker: Worker;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/** The workers behind one port. */
export interface Workers {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts WEB_CONCURRENCY processes behind one port, and replaces those that end. The primary itself serves no requests.
 * Rejects if a worker ends before it listens: the others would fail for the same reason.
 */
export async function startWorkers(env: ResolvedEnv, logger: Logger): Promise<Workers> {
  const running = new Set<Forked>();
  let stopping = false;
  const fork = (): Forked => {
    const worker = cluster.fork(environmentOf(env));
    worker.on('error', (err: Error) => logger.error({ worker: worker.id, err }, 'a worker process failed'));
    const forked = { worker, ended: endOf(worker) };
    running.add(forked);
    inBackground(forked.ended.then(() => running.delete(forked)));
    return forked;
  };
  const keepRunning = async ({ worker, ended }: Forked, delayMs: number): Promise<void> => {
    const started = performance.now();
    const { code, signal } = await ended;
    if (stopping) return;
    const next = performance.now() - started > STABLE_MS ? MIN_RESTART_DELAY_MS : delayMs;
    logger.error({ worker: worker.id, code, signal }, `a worker has ended; a new one starts in ${next} ms`);
    await delay(next);
    if (!stopping) await keepRunning(fork(), Math.min(next * 2, MAX_RESTART_DELAY_MS));
  };
  const stop = async () => {
    stopping = true;
    const all = [...running];
    for (const { worker } of all) worker.process.kill('SIGTERM');
    await Promise.all(all.map(({ ended }) => ended));
  };
  const first = Array.from({ length: env.WEB_CONCURRENCY }, fork);
  try {
    const [port = 0] = await Promise.all(first.map(listening));
    for (const forked of first) inBackground(keepRunning(forked, MIN_RESTART_DELAY_MS));
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The configuration that the primary has resolved: its defaults depend on the embedded database, which a worker does not
 * see. A worker inherits the rest of the environment.
 */
function environmentOf(env: ResolvedEnv): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: env.DATABASE_URL,
    ADMIN_TOKEN: env.ADMIN_TOKEN,
    SECRETS_KEY: env.SECRETS_KEY.toString('hex'),
    DEMO: String(env.DEMO),
    SANDBOX: String(env.SANDBOX),
    OUTBOUND_ALLOW_PRIVATE: String(env.OUTBOUND_ALLOW_PRIVATE),
    MIGRATE_ON_START: 'false',
    ...withoutSecretFiles('DATABASE_URL', 'ADMIN_TOKEN', 'SECRETS_KEY'),
  };
}

/** Never rejects. A worker that cannot be started ends with its error. */
function endOf(worker: Worker): Forked['ended'] {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }));
    worker.once('error', () => {
      if (worker.process.pid === undefined) resolve({ code: null, signal: null });
    });
  });
}

function listening({ worker, ended }: Forked): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('listening', ({ port }: AddressInfo) => resolve(port));
    ended
      .then(({ code, signal }) => reject(new StartupError(`a worker ended with ${signal ?? code} before it listened`)))
      .catch(reject);
  });
}
