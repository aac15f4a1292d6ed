import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application } from 'express';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import type { SettledEnv } from './config/env.js';
import { isDatabaseSlow, isDatabaseUnavailable } from './database/postgres-errors.js';
import { serveDocuments } from './docs/swagger.js';
import { type AppError, unavailable } from './errors/app-error.js';
import { CommonErrorFilter, type Translate } from './errors/exception.filter.js';
import { ValidationPipe } from './errors/validation.pipe.js';
import { allowedMethods } from './http/allowed-methods.js';
import { limitBodies } from './http/json-body.js';
import { LeanExpressAdapter } from './http/lean-express.adapter.js';
import { parseQuery } from './http/query.js';
import { requestId } from './http/request-id.js';
import { secureHeaders } from './http/secure-headers.js';
import { SERVER_LIMITS } from './http/server-limits.js';
import { endUnreadBodies } from './http/unread-bodies.js';
import { createLogger, NestLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { observeRequests } from './observability/request-observer.js';
import { StorageUnavailable } from './storage/storage-errors.js';

/** As long as a download waits before it tries a storage again that has just failed. */
const STORAGE_RETRY_SECONDS = 5;

/** The application as it runs, in production and in tests alike; the caller listens and closes. */
export async function createApp(
  env: SettledEnv,
  logger = createLogger(env),
  limits = SERVER_LIMITS,
): Promise<NestExpressApplication> {
  const adapter = new LeanExpressAdapter(limits, secureHeaders());
  const app = await NestFactory.create<NestExpressApplication>(AppModule.of(env), adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(logger),
  });
  const express = app.getHttpAdapter().getInstance() as Application;
  // Nobody conditions on an entity tag of these answers, and no query of the contracts is nested: both would cost every request.
  app.set('etag', false).set('query parser', parseQuery).disable('x-powered-by');
  adapter.useHooks(requestId, observeRequests(logger, app.get(Metrics)), endUnreadBodies(limits));
  limitBodies(express, env.HTTP_BODY_LIMIT, limits);
  app.useGlobalPipes(new ValidationPipe());
  app.useGlobalFilters(
    new CommonErrorFilter([whenDatabaseAway, whenStorageAway(logger)], (...asked) => allowedMethods(express, ...asked)),
  );
  serveDocuments(app, env.SIDES);
  return app;
}

function whenDatabaseAway(error: unknown): AppError | undefined {
  if (!isDatabaseUnavailable(error)) return undefined;
  const what = isDatabaseSlow(error) ? 'the database did not answer in time' : 'the service cannot reach its database';
  return unavailable(`${what}; try again shortly`, { cause: error });
}

/** Callers learn nothing of disks and buckets: the reason is an operator's, and stands in the log. */
function whenStorageAway(logger: Logger): Translate {
  return (error, { method, path, res }) => {
    if (!(error instanceof StorageUnavailable)) return undefined;
    const requestId = res?.getHeader('X-Request-Id');
    logger.warn({ reason: error.message, requestId, method, path }, 'the video storage failed a request');
    return unavailable('the video storage cannot do its work just now; try again shortly', {
      cause: error,
      retryAfterSeconds: STORAGE_RETRY_SECONDS,
    });
  };
}
