import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
  NotFoundException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { type ErrorKind, kindOf } from '../contracts/common/api-contract.js';
import { AppError } from './app-error.js';
import { errorReply } from './error-body.js';

/** Knows a failure of some layer below, such as a lost database, as an expected one; `undefined` where it does not. */
export type Translate = (error: unknown, request: Request) => AppError | undefined;

/** The methods that the path of a request has; none where the one that was asked is among them. */
export type AllowedMethods = (path: string, asked: string) => readonly string[];

/** What is still to come of such a body is not waited for at all. */
const HOPELESS: ReadonlySet<ErrorKind> = new Set(['tooLarge', 'requestTimeout']);

/** What a layer below may have told already of the file that it then did not send. */
const OF_CONTENT = ['Content-Type', 'Content-Length', 'ETag', 'Last-Modified', 'Accept-Ranges', 'Cache-Control'];

/** Makes the common error body out of everything that can go wrong in any route (decisions 3 to 14). */
@Catch()
export class CommonErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(
    private readonly translations: readonly Translate[],
    private readonly allowedMethods: AllowedMethods,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.reply(exception, http.getRequest<Request>(), http.getResponse<Response>());
  }

  reply(exception: unknown, request: Request, response: Response): void {
    const error = this.expected(exception, request) ?? this.unexpected(exception, request);
    if (response.headersSent || response.destroyed) {
      // Half an answer is worse than none: the caller must see that it broke.
      response.destroy();
      return;
    }
    const { status, headers, body } = errorReply(error, request.path);
    // What is left of a refused body is not worth reading: the connection ends with the answer.
    if (!request.complete && HOPELESS.has(error.kind)) response.set('Connection', 'close');
    for (const name of OF_CONTENT) response.removeHeader(name);
    response.status(status).set(headers).json(body);
  }

  private expected(exception: unknown, request: Request): AppError | undefined {
    if (exception instanceof AppError) return exception;
    for (const translate of this.translations) {
      const error = translate(exception, request);
      if (error !== undefined) return error;
    }
    if (exception instanceof NotFoundException) return this.unknownRoute(request);
    if (exception instanceof HttpException) {
      const kind = kindOfRefusal(exception.getStatus());
      return kind === undefined ? undefined : new AppError(kind, exception.message);
    }
    return undefined;
  }

  private unknownRoute(request: Request): AppError {
    const allowed = this.allowedMethods(request.path, request.method);
    const [path] = request.originalUrl.split('?', 1);
    if (allowed.length === 0) return new AppError('notFound', `there is nothing at ${path}`);
    return new AppError('methodNotAllowed', `${path} takes ${allowed.join(', ')}`, {
      headers: { Allow: allowed.join(', ') },
    });
  }

  private unexpected(exception: unknown, request: Request): AppError {
    const requestId = request.res?.getHeader('X-Request-Id');
    this.logger.error({ err: exception, requestId, method: request.method, path: request.path }, 'unexpected error');
    return new AppError('internal', 'An unexpected error happened; it has been logged under the request id', {
      details: { requestId },
    });
  }
}

/**
 * What a layer below has refused. A 4xx that has no kind, and so no code, is told as 400, which HTTP takes every unknown
 * one for. Of the 5xx only 503 is a refusal; every other one is unexpected.
 */
function kindOfRefusal(status: number): ErrorKind | undefined {
  const kind = kindOf(status);
  if (status >= 400 && status < 500) return kind ?? 'invalid';
  return kind === 'unavailable' ? kind : undefined;
}
