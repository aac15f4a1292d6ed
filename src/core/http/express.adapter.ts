import type { Served } from './call.js';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Application } from 'express';
import { helpAddressOf } from '../errors/error-body.js';
import { HttpServer, type ServerLimits } from './http-server.js';

/** Of a route: Express ignores case and one final slash. */
interface PathMethod {
  readonly path: RegExp;
  readonly method: string;
}

/**
 * The methods of the routes that have a path, for the `Allow` header of a 405; none where the method of the request is one of
 * them (decision 10).
 */
export function allowedMethods(routes: readonly Served[]): (method: string, path: string) => readonly string[] {
  const known = routes.map(({ api, route }): PathMethod => {
    const pattern = `${api.prefix}${route.path}`.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+');
    return { path: new RegExp(`^${pattern}/?$`, 'i'), method: route.method };
  });
  return (method, path) => {
    const allowed = new Set(known.filter((each) => each.path.test(path)).map((each) => each.method));
    if (allowed.has('GET')) allowed.add('HEAD');
    return allowed.has(method) ? [] : [...allowed].sort();
  };
}

/** Whether Express trusts the `hop`th address before the service (`trust proxy`). */
type TrustProxy = (address: string, hop: number) => boolean;

/** Nest's Express adapter on an `HttpServer`. */
export class HttpAdapter extends ExpressAdapter {
  private server: HttpServer | undefined;
  /** Registers the routes that Express tries last. */
  registerLast: () => void = () => undefined;

  constructor(private readonly limits: ServerLimits) {
    super();
  }

  override initHttpServer(): void {
    const express = this.getInstance<Application>();
    // The setting exists before the first connection.
    const isProxy = (address: string) => (express.get('trust proxy fn') as TrustProxy)(address, 0);
    this.server = new HttpServer(this.limits, express, isProxy, () => helpAddressOf({ app: express }));
    this.httpServer = this.server;
  }

  /** Reports requests that the server itself refuses: see `HttpServer`. */
  set onRefused(report: HttpServer['onRefused']) {
    if (this.server !== undefined) this.server.onRefused = report;
  }

  beginDraining(): void {
    this.server?.beginDraining();
  }

  async stopAccepting(): Promise<void> {
    await this.server?.stopAccepting();
  }

  /** Nest calls this after `beforeApplicationShutdown`; `main.ts` calls `stopAccepting` before. */
  override close(): Promise<void> {
    return this.stopAccepting();
  }

  /** Nest calls this after it has registered the routes of all controllers. */
  override setNotFoundHandler(handler: (...input: unknown[]) => unknown): unknown {
    this.registerLast();
    return super.setNotFoundHandler(handler);
  }
}
