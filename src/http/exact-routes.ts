import { Logger } from '@nestjs/common';
import type { Request, Response } from 'express';

/** What Nest makes of a route: guards, pipes, method and filters in one. */
export type RouteHandler = (request: Request, response: Response, next: () => void) => unknown;

/** What Express would take literally: no parameters, no wildcards, no optional parts. */
const LITERAL = /^(?:\/[\w.-]+)+$/;

/**
 * What is posted to a path without parameters, found by the address as it came. Express makes closures and a state of its
 * own for every request before it finds the same: a tenth of what a ticket costs the service. It keeps these routes
 * too, and all that is asked for in another way (with a query, with a slash at the end) goes to it.
 */
export class ExactRoutes {
  private readonly logger = new Logger('Http');
  private readonly routes = new Map<string, { readonly path: string; readonly handler: RouteHandler }>();

  add(path: string, handler: RouteHandler): void {
    if (LITERAL.test(path)) this.routes.set(path, { path, handler });
  }

  /** Runs the route, or `next` where it is none of these. */
  run(request: Request, response: Response, next: () => void): void {
    const route = request.method === 'POST' ? this.routes.get(request.url) : undefined;
    if (route === undefined) {
      next();
      return;
    }
    // As Express leaves them.
    request.res = response;
    request.route = route;
    request.params = {};
    request.originalUrl = request.url;
    const done = route.handler(request, response, next);
    if (done instanceof Promise) done.catch((err: unknown) => this.breakOff(err, response));
  }

  /** What even the filters could not answer. */
  private breakOff(err: unknown, response: Response): void {
    this.logger.error({ err }, 'a request could not be answered');
    response.destroy();
  }
}
