import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import type { ResolvedEnv } from './config/env.js';
import { secretTexts } from './config/secret-texts.js';
import { outageOf, outageSentence } from './database/outage.js';
import { signCursors } from './database/cursor.js';
import { serveConsole } from './docs/console-files.js';
import { serveDocuments } from './docs/swagger.js';
import { AppError, unavailable } from './errors/app-error.js';
import { CommonErrorFilter, type Translate } from './errors/exception.filter.js';
import { setHelpAddress } from './errors/help-address.js';
import { DtoPipe } from './errors/validation.pipe.js';
import { discardUnreadBody, setBodyLimits } from './http/body-reader.js';
import { ExchangeLog } from './exchanges/exchange-log.service.js';
import { captureInbound } from './exchanges/inbound-capture.js';
import { stripCellPath } from './http/cell-path.js';
import { HttpAdapter } from './http/express.adapter.js';
import { inSequence, refuseInvalidHost, setRequestId, setCommonHeaders, stripForwardedPorts } from './http/headers.js';
import { SERVER_LIMITS } from './http/http-server.js';
import { setFileLimits } from './http/send-file.js';
import { decodePathLiterally, parseQuery } from './http/url.js';
import { protectSecrets } from './observability/known-secrets.js';
import { createLogger, NestLogger } from './observability/logger.js';
import { Metrics } from './observability/metrics.js';
import { type ObservedRequest, observeRequests } from './observability/request-observer.js';
import { continueTrace } from './outbound/trace-context.js';
import { NotStoredError, StorageUnavailableError } from './storage/storage-errors.js';

/** The interval at which a download retries after the storage has failed. */
const STORAGE_RETRY_SECONDS = 5;

/** Creates the application, in production and in tests alike. The caller listens and closes. */
export async function createApp(
  env: ResolvedEnv,
  logger = createLogger(env),
  limits = { ...SERVER_LIMITS, keepAlive: env.HTTP_KEEP_ALIVE },
): Promise<NestExpressApplication> {
  protectSecrets(secretTexts(env));
  const adapter = new HttpAdapter(limits);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.of(env), adapter, {
    // `@JsonBody()` reads bodies, after the guards.
  signCursors(env.SECRETS_KEY);
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(logger),
  });
  const express = app.getHttpAdapter().getInstance() as Application;
  // Routes that support entity tags set their own.
  app.set('etag', false).set('query parser', parseQuery).disable('x-powered-by');
  if (env.TRUST_PROXY !== undefined) app.set('trust proxy', env.TRUST_PROXY);
  setBodyLimits(express, { maxBytes: env.HTTP_BODY_LIMIT, timeouts: limits });
  setFileLimits(express, limits);
  setHelpAddress(express, env.PUBLIC_URL);
  app.use(
    inSequence(
      ...(env.CELL === undefined ? [] : [stripCellPath(env.CELL)]),
      ...(env.TRUST_PROXY === undefined ? [] : [stripForwardedPorts]),
      setRequestId,
      continueTrace,
      observeRequests(logger, app.get(Metrics), env),
      setCommonHeaders,
      refuseWithoutPlace(adapter),
      captureInbound(app.get(ExchangeLog)),
      discardUnreadBody,
      refuseInvalidHost,
      decodePathLiterally,
    ),
  );
  app.useGlobalPipes(new DtoPipe());
  app.useGlobalFilters(
    new CommonErrorFilter(
      [databaseUnavailable, storageUnavailable(logger)],
      (request, response) => adapter.allowedMethods(request, response),
      countUnavailable(app.get(Metrics)),
    ),
  );
  // No push of a ticket is matched against pages.
  adapter.registerLast = () => {
    serveDocuments(app, env);
    serveConsole(app, env.CELL);
  };
  return app;
}

/** Paths that the reserved connections serve. */
const RESERVED_PATHS = /^\/(health|admin|metrics|console\/api)(\/|$)/;

/** Refuses a request on a reserved connection, unless it is a health check or one of an administrator. */
const refuseWithoutPlace =
  (adapter: HttpAdapter): RequestHandler =>
  (request, _response, next) => {
    if (!adapter.isReserved(request) || RESERVED_PATHS.test(request.path)) next();
    else next(unavailable('too many connections are open; try again shortly', { overload: 'connections' }));
  };

function databaseUnavailable(error: unknown): AppError | undefined {
  // A deadlock or serialization failure that comes here has failed several times, or could not run again.
  if (outageOf(error) === undefined) return undefined;
  return unavailable(`${outageSentence(error)}; try again shortly`, { cause: error });
}

/** Counts a 503 by its cause, and names the cause in the line of the request. */
const countUnavailable =
  ({ overloads, unavailable: answers }: Metrics) =>
  (error: AppError, request: ObservedRequest): void => {
    if (error.overload !== undefined) overloads.inc({ reason: error.overload });
    request.outage =
      error.overload ?? outageOf(error.cause) ?? (error.cause instanceof StorageUnavailableError ? 'storage' : 'other');
    answers.inc({ cause: request.outage });
  };

/** The log contains the reason. Callers learn nothing about disks and buckets. */
function storageUnavailable(logger: Logger): Translate {
  return (error, { method, path, res }) => {
    if (error instanceof NotStoredError) {
      logger.error(
        { requestId: res?.getHeader('X-Request-Id'), method, path },
        `${error.file} is gone from the video storage`,
      );
      return new AppError('notFound', 'the file is gone from the video storage', { cause: error });
    }
    if (!(error instanceof StorageUnavailableError)) return undefined;
    const requestId = res?.getHeader('X-Request-Id');
    logger.warn({ reason: error.message, requestId, method, path }, 'the video storage failed a request');
    return unavailable('the video storage is not available; try again shortly', {
      cause: error,
      retryAfterSeconds: STORAGE_RETRY_SECONDS,
    });
  };
}
