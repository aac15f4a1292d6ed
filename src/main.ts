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
    announce(app, env);
  } catch (error) {
    await stop();
    throw error;
  }
}

function announce(app: NestExpressApplication, env: SettledEnv): void {
  const { port } = app.getHttpServer().address() as AddressInfo;
  process.stdout.write(`haulbridge listens on http://${env.HOST}:${port}\n`);
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
