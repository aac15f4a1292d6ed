import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { DataSource } from 'typeorm';
import { createApp } from '../../src/app.setup.js';
import type { ResolvedEnv } from '../../src/core/config/env.js';
import { Database } from '../../src/core/database/database.js';
import { SERVER_LIMITS, type ServerLimits } from '../../src/core/http/http-server.js';
import { Metrics } from '../../src/core/observability/metrics.js';
import { createLogger } from '../../src/core/observability/logger.js';
import { WorkService } from '../../src/core/work/work.service.js';
import { held } from './held.js';
import { type CallOptions, type Reply, send } from './http.js';
import { connectTo, createTestDatabase } from './test-database.js';
import { textCollector } from './written-text.js';
import { testEnv } from './env.js';

export interface TestApp {
  readonly app: NestExpressApplication;
  readonly url: string;
  readonly env: ResolvedEnv;
  readonly database: Database;
  /** A pool of the test. */
  readonly dataSource: DataSource;
  /** A call of the admin API, `path` below `/admin/v1`. */
  admin<Body = Record<string, never>>(method: string, path: string, body?: unknown): Promise<Reply<Body>>;
  /** Any call; an object is sent as JSON, text and bytes as they are. */
  call<Body = Record<string, never>>(method: string, path: string, options?: CallOptions): Promise<Reply<Body>>;
  close(): Promise<void>;
}

export interface TestAppOptions {
  readonly env?: Partial<ResolvedEnv>;
  /** A second instance on the database and with the configuration of a first one; that one drops it. */
  readonly on?: TestApp;
  /** How long clients may take. */
  readonly limits?: Partial<ServerLimits>;
  /**
   * With `false`, no job starts by the clock after the start: `runDue` starts due rows. For tests that move the times of rows,
   * which would otherwise run beside jobs of their own process.
   */
  readonly ticks?: boolean;
}

/** The whole service on a free port, over real HTTP and a database of its own. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const database = options.on === undefined ? await createTestDatabase() : undefined;
  const env =
    options.on === undefined
      ? testEnv({ DATABASE_URL: database?.url ?? '', ...options.env })
      : { ...options.on.env, ...options.env };
  // Whatever the service would log is searched for secrets at the end.
  const lines = textCollector(env.DATABASE_URL, 'the log');
  const answers = textCollector(env.DATABASE_URL, 'an answer');
  const logger = createLogger({ ...env, LOG_LEVEL: 'debug' }, { write: lines });
  const limits = { ...SERVER_LIMITS, keepAlive: env.HTTP_KEEP_ALIVE, ...options.limits };
  const app = await createApp(env, logger, limits);
  await app.listen(0, '127.0.0.1');
  if (options.ticks === false) stopTicks(app);
  const dataSource = await connectTo(env.DATABASE_URL);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const call: TestApp['call'] = async (method, path, request) => {
    const reply = await send(url + path, method, request);
    if (isSearched(method, path)) answers(reply.text);
    return reply as never;
  };
  return {
    app,
    url,
    env,
    database: app.get(Database),
    dataSource,
    call,
    admin: (method, path, body) =>
      call(method, `/admin/v1${path}`, { headers: { Authorization: `Bearer ${env.ADMIN_TOKEN}` }, body }),
    close: held(async () => {
      app.getHttpServer().closeAllConnections();
      await app.close();
      await dataSource.destroy();
      await database?.drop();
      await expectDeclaredAnswers(app);
    }),
  };
}

function stopTicks(app: NestExpressApplication): void {
  const schedule = app.get(SchedulerRegistry);
  for (const name of schedule.getIntervals()) schedule.deleteInterval(name);
}

/** Starts the due rows of these kinds of work now, and not at the next tick. */
export function runDue({ app }: TestApp, ...kinds: readonly string[]): void {
  for (const kind of kinds) app.get(WorkService).runDue(kind);
}

/** Every status that the service has answered must stand in the contract of its route. */
async function expectDeclaredAnswers(app: NestExpressApplication): Promise<void> {
  const { values } = await app.get(Metrics).undeclaredAnswers.get();
  const answers = values.map(({ labels: { operation, status } }) => `${operation} answers ${status}`);
  if (answers.length > 0) throw new Error(`the contracts do not list: ${answers.join(', ')}`);
}

/**
 * The four interfaces return what the caller sent, and a new key, link or secret is returned once. The documents are the same
 * everywhere, and tests use their examples as keys.
 */
const isSearched = (method: string, path: string): boolean =>
  /^\/(admin|partner|metrics|console)\b/.test(path) &&
  !(method === 'POST' && /\/(api-keys|shares|webhook-endpoints)\b/.test(path));
