import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import type { Logger } from 'pino';
import { type Env, readEnv, type ResolvedEnv } from './core/config/env.js';
import { storeServiceAddress } from './core/config/local-service.js';
import { secretTexts } from './core/config/secret-texts.js';
import { productionWarnings } from './core/config/production-warnings.js';
import { serviceVersion } from './core/config/version.js';
import { parseStorageUrl } from './core/config/storage-url.js';
import { StartupError } from './core/config/startup-error.js';
import { migrate, pendingMigrations, refuseUnusable } from './core/database/migrate.js';
import { Database } from './core/database/database.js';
import type { Sql } from './core/database/sql.js';
import { reasonOf } from './core/database/reason.js';
import { embeddedNotice, resolveEnv } from './embedded-postgres/resolve-env.js';
import { inBackground } from './core/errors/background.js';
import type { HttpAdapter } from './core/http/express.adapter.js';
import { urlHost } from './core/http/url.js';
import { protectSecrets } from './core/observability/known-secrets.js';
import { createLogger, standardOutput } from './core/observability/logger.js';
import { assertOwnKey, refuseOtherKey } from './partner-client/secrets-key.js';
import { protectFiles } from './core/storage/private-files.js';
import { STORAGE, type Storage } from './core/storage/storage.js';

/** A listening service. `stop` completes within SHUTDOWN_DRAIN and SHUTDOWN_GRACE together. */
interface Serving {
  readonly port: number;
  /** Of a link that signs in to the console once. */
  readonly newSignInCode: () => string;
  /** Aborted at the beginning of the stop. */
  readonly stopping: AbortSignal;
  stop(): Promise<void>;
}

/** Prepares the database, listens, and stops on SIGTERM or SIGINT. */
async function main(): Promise<void> {
  const declared = readEnv();
  const logger = createLogger(declared);
  for (const signal of STOP_SIGNALS) process.on(signal, endStart);
  prepare(declared, logger);
  const { env: resolved, stop: stopDatabase } = await resolveEnv(declared, logger);
  const env = resolved.DEMO ? (await import('./demo/make-demo.js')).withDemoPerson(resolved) : resolved;
  protectSecrets(secretTexts(env));
  try {
    if (env.MIGRATE_ON_START) {
      const before = (database: Sql) => assertOwnKey(database, env.SECRETS_KEY);
      await migrate(env.DATABASE_URL, { report: (sentence) => logger.warn(sentence), before });
    } else await refuseUnusable(env.DATABASE_URL);
    await refuseOtherKey(env.DATABASE_URL, env.SECRETS_KEY);
    const serving = await serve(env, logger);
    stopOnSignal(serving, env, logger, stopDatabase);
    await announce(serving, env, logger);
  } catch (error) {
    await stopDatabase();
    throw error;
  }
}

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Ends the process when its last lines are written, or cannot be. */
async function exit(code: number): Promise<void> {
  await standardOutput().drain();
  process.exit(code);
}

/** Until the service listens. The first process of a container would ignore a signal without a handler. */
const endStart = () => void exit(0);

function prepare(env: Env, logger: Logger): void {
  inBackground(
    protectFiles(env).then((failed) => {
      if (failed.length > 0)
        logger.warn(
          { paths: failed.slice(0, 5) },
          `paths whose mode cannot be changed, and which others may read: ${failed.length}`,
        );
    }),
  );
  const warnings = env.EMBEDDED && env.IN_PRODUCTION ? [embeddedNotice(env)] : [];
  for (const warning of [...warnings, ...productionWarnings(env)]) logger.warn(warning);
}

async function serve(env: ResolvedEnv, logger: Logger): Promise<Serving> {
  // A start that the configuration or the database refuses does not load it.
  const [{ createApp }, { SignInLinks }, { ReadinessService }] = await Promise.all([
    import('./app.setup.js'),
    import('./auth/sign-in-links.js'),
    import('./admin/health/readiness.service.js'),
  ]);
  const app = await createApp(env, logger);
  try {
    await app.init();
    await listen(app, env);
  } catch (error) {
    // Stops the jobs before the database that they use.
    await app.close();
    throw error;
  }
  inBackground(warnOfMissingParts(app, env, logger));
  const server = app.getHttpServer();
  const { port } = server.address() as AddressInfo;
  const stopping = new AbortController();
  const stop = async () => {
    stopping.abort();
    const adapter = app.getHttpAdapter() as HttpAdapter;
    app.get(ReadinessService).beginStop();
    adapter.beginDraining();
    await delay(env.SHUTDOWN_DRAIN);
    setTimeout(() => server.closeAllConnections(), env.SHUTDOWN_GRACE * 0.8).unref();
    // Nest would stop accepting only after the jobs have ended.
    inBackground(adapter.stopAccepting());
    await app.close();
  };
  return { port, stop, stopping: stopping.signal, newSignInCode: () => app.get(SignInLinks).issue() };
}

async function listen(app: INestApplication, { PORT, HOST }: ResolvedEnv): Promise<void> {
  try {
    await app.listen(PORT, HOST);
  } catch (error) {
    const advice = 'Stop the other program, or set another PORT or HOST.';
    throw new StartupError(`HOST/PORT: the service cannot listen there: ${(error as Error).message}. ${advice}`, {
      cause: error,
    });
  }
}

/** Warns of missing migrations and of a storage that is not writable. The service starts without them. */
async function warnOfMissingParts(app: INestApplication, env: ResolvedEnv, logger: Logger): Promise<void> {
  const missing = env.MIGRATE_ON_START ? [] : await pendingMigrations(app.get(Database)).catch(() => []);
  if (missing.length > 0) {
    logger.warn(
      `MIGRATE_ON_START: ${missing.length} migrations are missing: run npm run migrate. Until then calls fail.`,
    );
    // The storage check needs a table.
    return;
  }
  const { writable, reason } = await app.get<Storage>(STORAGE, { strict: false }).check();
  if (writable) return;
  logger.warn(`STORAGE_URL: ${reason} Until it can be written to, downloads wait and uploads are refused with 503.`);
}

/** Prints the address. With DEMO it fills the demo while the service runs, and prints the welcome at the end. */
async function announce(serving: Serving, env: ResolvedEnv, logger: Logger): Promise<void> {
  const { port } = serving;
  const output = standardOutput();
  const address = httpUrl(env.HOST, port);
  const details = { version: serviceVersion(), address, database: publicUrl(env.DATABASE_URL) };
  const storage = parseStorageUrl(env.STORAGE_URL);
  const place = storage.kind === 'files' ? `file:${storage.root}` : publicUrl(env.STORAGE_URL);
  logger.info({ ...details, storage: place }, 'started');
  output.write(`haulbridge listens on ${address}\n`);
  await output.drain();
  const baseUrl = httpUrl(env.HOST === '0.0.0.0' || env.HOST === '::' ? '127.0.0.1' : env.HOST, port);
  if (env.EMBEDDED) storeServiceAddress(env.DATA_DIR, baseUrl);
  if (env.DEMO) await announceDemo(serving, env, baseUrl, logger);
}

/** A demo that cannot be filled leaves a running service and one sentence. A stop ends it without one. */
async function announceDemo(
  { newSignInCode, stopping }: Serving,
  env: ResolvedEnv,
  baseUrl: string,
  logger: Logger,
): Promise<void> {
  const output = standardOutput();
  const [{ makeDemo }, { examples, welcome }] = await Promise.all([
    import('./demo/make-demo.js'),
    import('./demo/welcome.js'),
  ]);
  // The demo has refused pushes on purpose: their lines would stand above the welcome.
  if (logger.level === 'info') logger.level = 'warn';
  const { demo, missing } = await makeDemo(env, baseUrl, stopping);
  logger.level = env.LOG_LEVEL;
  if (stopping.aborted) return;
  if (missing.length > 0) process.stderr.write(`The demo is not complete: ${missing.join('; ')}\n`);
  if (demo !== undefined) output.write(examples(env, baseUrl, demo));
  output.write(welcome(env, baseUrl, newSignInCode()));
  await output.drain();
}

const httpUrl = (host: string, port: number): string => `http://${urlHost(host)}:${port}`;

/** A URL without credentials and query. */
function publicUrl(text: string): string {
  if (!URL.canParse(text)) return 'another form of address';
  const url = new URL(text);
  return `${url.protocol}${url.host === '' ? '' : '//'}${url.host}${url.pathname}`;
}

/**
 * Becomes unready, stops accepting after SHUTDOWN_DRAIN, finishes open requests, releases leased work, and exits. The
 * process exits in any case after SHUTDOWN_GRACE more. An unexpected error stops it the same way and exits 1; an unhandled rejection does so in production
 * only, because its cause is one piece of work and not the state of the process.
 */
function stopOnSignal(serving: Serving, env: ResolvedEnv, logger: Logger, stopDatabase: () => Promise<void>): void {
  let isStopping = false;
  const stop = async (exitCode: number, reason: object) => {
    if (isStopping) return;
    isStopping = true;
    logger.info(reason, 'stopping');
    const timer = setTimeout(() => void exit(exitCode), env.SHUTDOWN_DRAIN + env.SHUTDOWN_GRACE);
    try {
      await serving.stop();
    } finally {
      await stopDatabase();
    }
    clearTimeout(timer);
    logger.info('stopped');
    await exit(exitCode);
  };
  for (const signal of STOP_SIGNALS) {
    process.off(signal, endStart);
    process.on(signal, () => void stop(0, { signal }).catch(fail));
  }
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'an unexpected error ends the process');
    stop(1, { cause: 'uncaughtException' }).catch(fail);
  });
  process.on('unhandledRejection', (err) => {
    logger.error({ err }, 'a rejection without a handler');
    if (env.IN_PRODUCTION) stop(1, { cause: 'unhandledRejection' }).catch(fail);
  });
}

function fail(error: unknown): Promise<void> {
  process.stderr.write(`${reasonOf(error)}\n`);
  return exit(1);
}

main().catch(fail);
