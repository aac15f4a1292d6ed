import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Application, Request, Response } from 'express';
import { JSON_TYPE } from './answer.js';
import { closeAsAnswered, spareUnsent } from './closing-connections.js';
import { ExactRoutes, type RouteHandler } from './exact-routes.js';
import { readLiterally } from './literal-path.js';
import type { RequestHook } from './request-hook.js';
import type { ServerLimits } from './server-limits.js';
import { answerUnreadable, refuseHost } from './unreadable-request.js';
import type { CountedResponse } from './whole-answer.js';

/**
 * Express on a server whose limits can only be given when it is created, and without what it does for every request and
 * nobody here has a use for.
 */
export class LeanExpressAdapter extends ExpressAdapter {
  private readonly exact = new ExactRoutes();
  private hooks: readonly RequestHook[] = [];
  private closed: Promise<void> | undefined;

  /** `everyAnswer`: header lines that all answers have. */
  constructor(
    private readonly limits: ServerLimits,
    private readonly everyAnswer: string,
  ) {
    super();
  }

  /** In place of middleware, which exact routes would not come through. */
  useHooks(...hooks: readonly RequestHook[]): void {
    this.hooks = hooks;
  }

  override post(...route: [RouteHandler] | [path: unknown, RouteHandler]): void {
    const [path, handler] = route;
    if (typeof path === 'string' && handler !== undefined) this.exact.add(path, handler);
    super.post(...(route as [path: unknown, handler: never]));
  }

  override initHttpServer(): void {
    const { headers, keepAlive, check, silence } = this.limits;
    const application = this.getInstance<Application>();
    const options = {
      ...messagesOf(application as Application & Prototypes, this.everyAnswer, () => this.closed === undefined),
      headersTimeout: headers,
      keepAliveTimeout: keepAlive,
      connectionsCheckingInterval: check,
      // A deadline for all bodies alike would cut off recordings of 2 GiB: each reader of bodies keeps its own.
      requestTimeout: 0,
      // Refused by `take`, with a body.
      requireHostHeader: false,
    };
    const take = (request: unknown, response: unknown) =>
      this.take(request as Request, response as Response, application);
    const server: Server = createServer(options, take);
    // An unknown `Expect` may be passed over; Node.js would refuse it without a body.
    server.on('checkExpectation', take);
    server.setTimeout(silence);
    server.on('clientError', answerUnreadable);
    spareUnsent(server);
    this.httpServer = server;
  }

  /** No new connection from now on, and no further request on those that are open; resolves when all are closed. */
  stopAccepting(): Promise<void> {
    return (this.closed ??= closeAsAnswered(this.httpServer as Server));
  }

  /** Nest calls this after `beforeApplicationShutdown`, so `main.ts` has called `stopAccepting` already. */
  override close(): Promise<void> {
    (this.httpServer as Server).closeIdleConnections();
    return this.stopAccepting();
  }

  private take(request: Request, response: Response, application: Application): void {
    for (const hook of this.hooks) hook(request, response);
    if (refuseHost(request, response)) return;
    this.exact.run(request, response, () => {
      readLiterally(request);
      application(request, response);
    });
  }

  /** JSON as it is: Express would look for settings, an entity tag and a charset that none of these answers has. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (!isPlain(body)) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.statusCode = statusCode;
    const text = JSON.stringify(body);
    if (response.getHeader('Content-Type') === undefined) response.setHeader('Content-Type', JSON_TYPE);
    response.setHeader('Content-Length', Buffer.byteLength(text));
    return response.end(text);
  }
}

function isPlain(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !(body instanceof Uint8Array || 'getStream' in body);
}

/** Of Node.js's responses; its types do not tell of it. */
interface HeadWriter {
  _storeHeader(this: ServerResponse, firstLine: string, headers: unknown): void;
}

/** Of an application's requests and responses; its type does not tell of them. */
interface Prototypes {
  request: object;
  response: object;
}

/**
 * Messages that are Express's from the start. Express turns every request and every response into one of its own by
 * changing their prototypes, after which V8 knows less of them; where they are its own already, nothing changes.
 *
 * Headers that all answers have go out behind the status line as they are. Set one by one, each checked and kept under
 * its name again for every answer, the twelve of helmet were a tenth of what a ticket costs the service.
 */
function messagesOf(application: Application & Prototypes, everyAnswer: string, mayKeepAlive: () => boolean) {
  const own = ServerResponse.prototype as unknown as HeadWriter;
  class LeanRequest extends IncomingMessage {}
  class LeanResponse extends ServerResponse implements HeadWriter, CountedResponse {
    bodyBytes = 0;

    /** Whoever writes an answer piece by piece; one that is ended with all of it does not come by here. */
    override write(chunk: string | Uint8Array, ...rest: never[]): boolean {
      this.bodyBytes += Buffer.byteLength(chunk);
      return super.write(chunk, ...rest);
    }

    _storeHeader(firstLine: string, headers: unknown): void {
      // Asked when the answer begins: a stop in the middle of a request would wait for another one on its connection.
      if (!mayKeepAlive()) this.shouldKeepAlive = false;
      own._storeHeader.call(this, firstLine + everyAnswer, headers);
    }
  }
  Object.setPrototypeOf(LeanRequest.prototype, application.request);
  Object.setPrototypeOf(LeanResponse.prototype, application.response);
  application.request = LeanRequest.prototype;
  application.response = LeanResponse.prototype;
  return { IncomingMessage: LeanRequest, ServerResponse: LeanResponse };
}
