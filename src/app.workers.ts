import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SettledEnv } from './config/env.js';

/** A worker that dies is replaced after so many milliseconds, each time in a row after twice as many. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Having lived so long, a worker's death counts as the first again. */
const STEADY_MS = 30_000;

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
  const workers = new Set<Worker>();
  let stopping = false;
  const fork = () => {
    const worker = cluster.fork(environmentOf(env));
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
    return worker;
  };
  const keep = async (worker: Worker, pause: number): Promise<void> => {
    const begun = performance.now();
    const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null];
    if (stopping) return;
    const next = performance.now() - begun > STEADY_MS ? FIRST_PAUSE_MS : pause;
    logger.error({ worker: worker.id, code, signal }, `a worker has ended; another one starts in ${next} ms`);
    await delay(next);
    if (!stopping) await keep(fork(), Math.min(next * 2, LONGEST_PAUSE_MS));
  };
  const stop = async () => {
    stopping = true;
    const ended = [...workers].map((worker) => once(worker, 'exit'));
    for (const worker of workers) worker.process.kill('SIGTERM');
    await Promise.all(ended);
  };
  const first = Array.from({ length: env.WEB_CONCURRENCY }, fork);
  try {
    const [port = 0] = await Promise.all(first.map(listening));
    for (const worker of first) void keep(worker, FIRST_PAUSE_MS);
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

function listening(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('listening', ({ port }: AddressInfo) => resolve(port));
    worker.once('exit', (code) => reject(new Error(`a worker ended with ${code} before it listened`)));
  });
}
