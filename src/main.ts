import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApp } from './app.setup.js';
import { readEnv, type SettledEnv } from './config/env.js';
import { migrate } from './database/migrate.js';
import { settleEnv } from './database/settle-env.js';
import { createLogger } from './observability/logger.js';

/** Boots, listens, and stops on SIGTERM or SIGINT within SHUTDOWN_GRACE. */
async function main(): Promise<void> {
  const declared = readEnv();
  const logger = createLogger(declared);
  const { env, stop } = await settleEnv(declared, logger);
  try {
    if (env.MIGRATE_ON_START) await migrate(env.DATABASE_URL);
    const app = await createApp(env, logger);
    await app.listen(env.PORT, env.HOST);
    stopOnSignal(app, env, stop);
    await announce(app, env);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Where the service is, and with DEMO what to paste. A demo that cannot be set up is told, and does not stop the service. */
async function announce(app: NestExpressApplication, env: SettledEnv): Promise<void> {
  const { port } = app.getHttpServer().address() as AddressInfo;
  process.stdout.write(`haulbridge listens on http://${env.HOST}:${port}\n`);
  if (!env.DEMO) return;
  const baseUrl = `http://${env.HOST === '0.0.0.0' || env.HOST === '::' ? '127.0.0.1' : env.HOST}:${port}`;
  const [{ seedDemo }, { welcome }] = await Promise.all([import('./demo/seed.js'), import('./demo/welcome.js')]);
  try {
    process.stdout.write(welcome(env, baseUrl, await seedDemo(env, baseUrl)));
  } catch (error) {
    process.stderr.write(`The demo could not be set up: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

/**
 * Stops accepting, lets what is in flight finish, gives leased work back, and exits 0. What is not finished when the
 * grace ends is cut off: an orchestrator would do it less politely a moment later.
 */
function stopOnSignal(app: NestExpressApplication, env: SettledEnv, stopDatabase: () => Promise<void>): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    const server = app.getHttpServer();
    setTimeout(() => server.closeAllConnections(), env.SHUTDOWN_GRACE * 0.8).unref();
    const late = setTimeout(() => process.exit(0), env.SHUTDOWN_GRACE);
    server.closeIdleConnections();
    await app.close();
    await stopDatabase();
    clearTimeout(late);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (process.exitCode === undefined || process.exitCode === 0) process.exit(1);
});
