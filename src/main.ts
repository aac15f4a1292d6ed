import 'reflect-metadata';
import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { readEnv, type SettledEnv } from './config/env.js';
import { StartRefused } from './database/embedded/start-refused.js';
import { migrate, pendingMigrations } from './database/migrate.js';
import { reasonOf } from './database/reason.js';
import { embeddedNotice, settleEnv } from './database/settle-env.js';
import type { LeanExpressAdapter } from './http/lean-express.adapter.js';
import { urlHost } from './http/url-host.js';
import { createLogger } from './observability/logger.js';
import { STORAGE, type Storage } from './storage/storage.js';

/** What listens, and how it ends within SHUTDOWN_GRACE. */
interface Serving {
  readonly port: number;
  stop(): Promise<void>;
}

/** Boots, listens, and stops on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const declared = readEnv();
  const logger = createLogger(declared);
  if (declared.EMBEDDED && declared.IN_PRODUCTION) logger.warn(embeddedNotice(declared));
  const { env, stop: stopDatabase } = await settleEnv(declared, logger);
  try {
    if (env.MIGRATE_ON_START) await migrate(env.DATABASE_URL);
    const manyProcesses = cluster.isPrimary && env.WEB_CONCURRENCY > 1;
    const serving = await (manyProcesses ? supervise(env, logger) : serve(env, logger));
    stopOnSignal(serving, env, stopDatabase);
    if (cluster.isPrimary) await announce(serving, env);
  } catch (error) {
    await stopDatabase();
    throw error;
  }
}

/** Serves in this process. A stop lets what is in flight finish, and cuts it off when most of the grace is over. */
async function serve(env: SettledEnv, logger: Logger): Promise<Serving> {
  // The primary of several processes has no need of it.
  const { createApp } = await import('./app.setup.js');
  const app = await createApp(env, logger);
  try {
    await app.init();
    await listen(app, env);
  } catch (error) {
    // Before the database, which its jobs use.
    await app.close();
    throw error;
  }
  void tellWhatIsMissing(app, env, logger);
  const server = app.getHttpServer();
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    setTimeout(() => server.closeAllConnections(), env.SHUTDOWN_GRACE * 0.8).unref();
    // Before the jobs have ended, which Nest would wait for.
    void (app.getHttpAdapter() as LeanExpressAdapter).stopAccepting();
    await app.close();
  };
  return { port, stop };
}

async function listen(app: INestApplication, { PORT, HOST }: SettledEnv): Promise<void> {
  try {
    await app.listen(PORT, HOST);
  } catch (error) {
    throw new StartRefused(`HOST/PORT: the service cannot listen there: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Warns of missing migrations and of a storage that cannot be written to. Neither stops the boot, but nobody might notice
 * them until a ticket or a video is missed.
 */
async function tellWhatIsMissing(app: INestApplication, env: SettledEnv, logger: Logger): Promise<void> {
  const missing = env.MIGRATE_ON_START ? [] : await pendingMigrations(app.get(DataSource)).catch(() => []);
  if (missing.length > 0) {
    logger.warn(
      `MIGRATE_ON_START: ${missing.length} migrations are missing: run npm run migrate. Until then calls fail.`,
    );
    // The check of the storage needs a table.
    return;
  }
  const { writable, reason } = await app.get<Storage>(STORAGE, { strict: false }).check();
  if (writable) return;
  logger.warn(`STORAGE_URL: ${reason} Until it can be written to, downloads wait and uploads are refused with 503.`);
}

async function supervise(env: SettledEnv, logger: Logger): Promise<Serving> {
  const { startWorkers } = await import('./app.workers.js');
  return startWorkers(env, logger);
}

/** Where the service is, and with DEMO what to paste. A demo that cannot be set up is told, and does not stop the service. */
async function announce({ port }: Serving, env: SettledEnv): Promise<void> {
  process.stdout.write(`haulbridge listens on ${httpUrl(env.HOST, port)}\n`);
  if (!env.DEMO) return;
  const baseUrl = httpUrl(env.HOST === '0.0.0.0' || env.HOST === '::' ? '127.0.0.1' : env.HOST, port);
  const [{ seedDemo }, { welcome }] = await Promise.all([import('./demo/seed.js'), import('./demo/welcome.js')]);
  try {
    process.stdout.write(welcome(env, baseUrl, await seedDemo(env, baseUrl)));
  } catch (error) {
    process.stderr.write(`The demo could not be set up: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

const httpUrl = (host: string, port: number): string => `http://${urlHost(host)}:${port}`;

/**
 * Stops accepting, lets what is in flight finish, gives leased work back, and exits 0. When the grace ends the process
 * does: an orchestrator would do it less politely a moment later.
 */
function stopOnSignal(serving: Serving, env: SettledEnv, stopDatabase: () => Promise<void>): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    const late = setTimeout(() => process.exit(0), env.SHUTDOWN_GRACE);
    try {
      await serving.stop();
    } finally {
      await stopDatabase();
    }
    clearTimeout(late);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop().catch(fail));
}

function fail(error: unknown): void {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exit(1);
}

main().catch(fail);
