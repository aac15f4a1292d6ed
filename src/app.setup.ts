import { DiscoveryService, NestFactory, Reflector } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, Request } from 'express';
import type { Logger } from 'pino';
import { AppModule } from './app.module.js';
import { ServedRoute } from './auth/route.js';
import type { ResolvedEnv } from './core/config/env.js';
import { secretTexts } from './core/config/secret-texts.js';
import { signCursors } from './core/database/list-page.js';
import { outageOf, outageSentence } from './core/database/reason.js';
import { serveConsole } from './admin/documents/console-files.js';
import { serveDocuments } from './admin/documents/swagger.js';
import { AppError, unavailable } from './core/errors/app-error.js';
import { Outbox } from './webhooks/events/outbox.js';
import { CommonErrorFilter, type Translate } from './core/errors/exception.filter.js';
import { setHelpAddress } from './core/errors/error-body.js';
import { DtoPipe } from './core/errors/validation.pipe.js';
import { discardUnreadBody, setBodyLimits } from './core/http/body-reader.js';
import { ExchangeLog } from './exchanges/exchange-log.service.js';
import { beginExchanges, collectAnswers, recordExchanges } from './exchanges/inbound-capture.js';
import { countCalls, logCalls, recordCalls, reportUndeclared, type Served } from './core/http/call.js';
import { allowedMethods, HttpAdapter } from './core/http/express.adapter.js';
import { inSequence, refuseInvalidHost, setCommonHeaders, stripForwardedPorts } from './core/http/headers.js';
import { type HttpServer, SERVER_LIMITS } from './core/http/http-server.js';
import { setFileLimits } from './core/http/send-file.js';
import { decodePathLiterally, parseQuery } from './core/http/url.js';
import { protectSecrets } from './core/observability/known-secrets.js';
import { createLogger, NestLogger } from './core/observability/logger.js';
import { Metrics } from './core/observability/metrics.js';
import { continueTrace } from './core/outbound/trace-context.js';
import { announceRefused } from './scale/refused-pushes.js';
import { NotStoredError, StorageUnavailableError } from './core/storage/storage-errors.js';

/** The interval at which a download retries after the storage has failed. */
const STORAGE_RETRY_SECONDS = 5;

/** Creates the application, in production and in tests alike. The caller listens and closes. */
export async function createApp(
  env: ResolvedEnv,
  logger = createLogger(env),
  limits = { ...SERVER_LIMITS, keepAlive: env.HTTP_KEEP_ALIVE },
): Promise<NestExpressApplication> {
  protectSecrets(secretTexts(env));
  signCursors(env.SECRETS_KEY);
  const adapter = new HttpAdapter(limits);
  const app = await NestFactory.create<NestExpressApplication>(AppModule.of(env), adapter, {
    // `@JsonBody()` reads bodies, after the guards.
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
  collectAnswers(express);
  const [metrics, exchanges] = [app.get(Metrics), app.get(ExchangeLog)];
  app.use(
    inSequence(
      ...(env.TRUST_PROXY === undefined ? [] : [stripForwardedPorts]),
      setCommonHeaders,
      continueTrace,
      recordCalls([
        countCalls(metrics),
        reportUndeclared(logger, metrics),
        logCalls(logger, env),
        recordExchanges(exchanges),
        announceRefused(app.get(Outbox)),
      ]),
      beginExchanges(exchanges),
      discardUnreadBody,
      refuseInvalidHost,
      decodePathLiterally,
    ),
  );
  app.useGlobalPipes(new DtoPipe());
  app.useGlobalFilters(
    new CommonErrorFilter(
      [databaseUnavailable, storageUnavailable(logger)],
      allowedMethods(servedRoutes(app)),
      countUnavailable(metrics),
    ),
  );
  adapter.onRefused = reportRefused(metrics, logger);
  const demo = env.DEMO ? await import('./demo/received-webhooks.js') : undefined;
  // No push of a ticket is matched against pages.
  adapter.registerLast = () => {
    demo?.serveReceivedWebhooks(app, env);
    serveDocuments(app, env);
    serveConsole(app);
  };
  return app;
}

/** The routes of the contracts that the controllers of this service have. */
function servedRoutes(app: NestExpressApplication): Served[] {
  const reflector = app.get(Reflector);
  return app
    .get(DiscoveryService)
    .getControllers()
    .flatMap(({ metatype }) => Object.values(Object.getOwnPropertyDescriptors(metatype?.prototype ?? {})))
    .map(({ value }) => value as unknown)
    .flatMap((handler) => (typeof handler === 'function' ? (reflector.get(ServedRoute, handler) ?? []) : []));
}

function databaseUnavailable(error: unknown): AppError | undefined {
  // A deadlock or serialization failure that comes here has failed several times, or could not run again.
  if (outageOf(error) === undefined) return undefined;
  return unavailable(`${outageSentence(error)}; try again shortly`, { cause: error });
}

/** The line and the counts of a request for which there is no connection. */
const reportRefused =
  ({ requests, overloads, unavailable: answers }: Metrics, logger: Logger): HttpServer['onRefused'] =>
  ({ method, path, requestId, status }) => {
    overloads.inc({ reason: 'connections' });
    answers.inc({ cause: 'connections' });
    requests.observe({ method, route: 'none', status }, 0);
    logger.info({ requestId, method, path, status, outage: 'connections' });
  };

/** Counts a 503 by its cause, and names the cause in the line of the request. */
const countUnavailable =
  ({ overloads, unavailable: answers }: Metrics) =>
  (error: AppError, { call }: Request): void => {
    if (error.overload !== undefined) overloads.inc({ reason: error.overload });
    call.outage =
      error.overload ?? outageOf(error.cause) ?? (error.cause instanceof StorageUnavailableError ? 'storage' : 'other');
    answers.inc({ cause: call.outage });
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
