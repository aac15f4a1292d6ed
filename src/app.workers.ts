import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SettledEnv } from './config/env.js';
import { StartRefused } from './database/embedded/start-refused.js';

/** A worker that dies is replaced after so many milliseconds, each time in a row after twice as many. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Having lived so long, a worker's death counts as the first again. */
const STEADY_MS = 30_000;

/** A process of the service, and its end, whenever it comes: even before anybody waits for it. */
interface Forked {
  readonly worker: Worker;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/** The port that all workers share, and how to end them. */
export interface Workers {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * WEB_CONCURRENCY processes behind one port. This one, the primary, serves nothing: it has prepared the database, and
 * keeps the workers running. Rejects where one dies before it ever listened: its fault is that of all.
 */
export async function startWorkers(env: SettledEnv, logger: Logger): Promise<Workers> {
  const running = new Set<Forked>();
  let stopping = false;
  const fork = (): Forked => {
    const worker = cluster.fork(environmentOf(env));
    worker.on('error', (err: Error) => logger.error({ worker: worker.id, err }, 'a worker is in trouble'));
    const forked = { worker, ended: endOf(worker) };
    running.add(forked);
    void forked.ended.then(() => running.delete(forked));
    return forked;
  };
  const keep = async ({ worker, ended }: Forked, pause: number): Promise<void> => {
    const begun = performance.now();
    const { code, signal } = await ended;
    if (stopping) return;
    const next = performance.now() - begun > STEADY_MS ? FIRST_PAUSE_MS : pause;
    logger.error({ worker: worker.id, code, signal }, `a worker has ended; another one starts in ${next} ms`);
    await delay(next);
    if (!stopping) await keep(fork(), Math.min(next * 2, LONGEST_PAUSE_MS));
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
    for (const forked of first) void keep(forked, FIRST_PAUSE_MS);
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What the primary has settled, told to a worker; the rest of the environment is inherited. */
function environmentOf(env: SettledEnv): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: env.DATABASE_URL,
    ADMIN_TOKEN: env.ADMIN_TOKEN,
    SECRETS_KEY: env.SECRETS_KEY.toString('hex'),
    OUTBOUND_ALLOW_PRIVATE: String(env.OUTBOUND_ALLOW_PRIVATE),
    MIGRATE_ON_START: 'false',
    DEMO: 'false',
  };
}

/** Never rejects. One that could not even be started has its error for an end. */
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
    void ended.then(({ code, signal }) =>
      reject(new StartRefused(`a worker ended with ${signal ?? code} before it listened`)),
    );
  });
}
