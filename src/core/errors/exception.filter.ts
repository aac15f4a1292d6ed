import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Logger,
  NotFoundException,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { type ErrorKind, kindOf } from '../../contracts/common/api-contract.js';
import { AppError, unexpected } from './app-error.js';
import { errorReply, helpAddressOf } from './error-body.js';

/** Translates an error of a lower layer, such as a lost database; `undefined` for an unexpected error. */
export type Translate = (error: unknown, request: Request) => AppError | undefined;

/** The methods of a path; none if the method of the request is one of them. */
export type AllowedMethods = (method: string, path: string) => readonly string[];

/** Headers of a file that a lower layer may have set before it failed. */
const CONTENT_HEADERS = ['Content-Type', 'Content-Length', 'ETag', 'Accept-Ranges'];

/** If the rest of a body has at most this size, it is discarded, and the connection stays open. */
const MAX_DISCARDED_BYTES = 65_536;

/** Time for a caller to receive the error of a body that it is still sending. */
const LINGER_MS = 5_000;

/** Sends the common error body for every failure of every route (decisions 3 to 14). */
@Catch()
export class CommonErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('Errors');

  constructor(
    private readonly translations: readonly Translate[],
    private readonly allowedMethods: AllowedMethods,
    private readonly countUnavailable: (error: AppError, request: Request) => void,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.reply(exception, http.getRequest<Request>(), http.getResponse<Response>());
  }

  reply(exception: unknown, request: Request, response: Response): void {
    const error = this.expected(exception, request) ?? this.unexpected(exception, request, response);
    if (error.kind === 'unavailable') this.countUnavailable(error, request);
    if (response.headersSent) {
      // Closing the connection shows the caller that the response is incomplete.
      response.destroy();
      return;
    }
    const { status, headers, body } = errorReply(error, request.path, helpAddressOf(request));
    for (const name of CONTENT_HEADERS) response.removeHeader(name);
    response.status(status).set({ 'Cache-Control': 'no-store', ...headers });
    // A caller that has left receives nothing, but the exchange log does.
    if (response.destroyed || canDiscardBody(request, error.kind)) response.json(body);
    else sendAndClose(request, response, JSON.stringify(body));
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
    const methods = this.allowedMethods(request.method, request.path).join(', ');
    const [path] = request.originalUrl.split('?', 1);
    if (methods === '') return new AppError('notFound', `no route for ${request.method} ${path}`);
    return new AppError('methodNotAllowed', `${request.method} is not supported: ${path} supports ${methods}`, {
      headers: { Allow: methods },
    });
  }

  private unexpected(exception: unknown, request: Request, response: Response): AppError {
    const requestId = response.getHeader('X-Request-Id');
    this.logger.error({ err: exception, requestId, method: request.method, path: request.path }, 'unexpected error');
    return unexpected(requestId);
  }
}

/**
 * The kind of an error that Nest, Express or a middleware threw. A 4xx without a kind is reported as 400 (RFC 9110, section
 * 15.5). Of the 5xx only 503 is expected.
 */
function kindOfRefusal(status: number): ErrorKind | undefined {
  const kind = kindOf(status);
  if (status >= 400 && status < 500) return kind ?? 'invalid';
  return kind === 'unavailable' ? kind : undefined;
}

/** Whether the rest of the body is small, and the caller is sending it. */
function canDiscardBody({ complete, headers }: Request, kind: ErrorKind): boolean {
  if (complete) return true;
  if (kind === 'requestTimeout' || kind === 'tooLarge') return false;
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return false;
  return Number(headers['content-length'] ?? 0) <= MAX_DISCARDED_BYTES;
}

/**
 * Sends a response to a request whose body is still arriving, and closes the connection. Closing it at once would reset
 * it, and the caller would lose the response: the body is received and discarded for a while.
 */
function sendAndClose(request: Request, response: Response, text: string): void {
  response.set({ Connection: 'close', 'Content-Length': String(Buffer.byteLength(text)) }).type('json');
  if (request.method !== 'HEAD') response.write(text);
  request.call.mayBeClosed = true;
  const timer = setTimeout(() => response.end(), LINGER_MS).unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  request.resume();
}
