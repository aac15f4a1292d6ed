import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Application, type Request, type RequestHandler, type Response } from 'express';
import { helpAddressOf } from '../errors/help-address.js';
import { HttpServer, type ServerLimits } from './http-server.js';

type Route = readonly [handler: RequestHandler] | readonly [path: unknown, handler: RequestHandler];

/** Whether Express trusts the `hop`th address before the service (`trust proxy`). */
type TrustProxy = (address: string, hop: number) => boolean;

/** Nest's Express adapter on an `HttpServer`. It also knows the methods of each path, for the `Allow` header of a 405. */
export class HttpAdapter extends ExpressAdapter {
  private server: HttpServer | undefined;
  private readonly methods = express.Router();
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

  /** Whether the connection of a request was accepted for health checks and administrators alone. */
  isReserved({ socket }: Request): boolean {
    return this.server?.isReserved(socket) === true;
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

  /** The methods of the routes that match a path; none where the method of the request is one of them (decision 10). */
  allowedMethods(request: Request, response: Response): readonly string[] {
    const allowed = new Set<string>();
    response.locals['allowed'] = allowed;
    this.methods(request, response, () => undefined);
    if (allowed.has('GET')) allowed.add('HEAD');
    return allowed.has(request.method) ? [] : [...allowed].sort();
  }

  override get(...route: Route): void {
    this.record('GET', route);
    super.get(...(route as [never, never]));
  }

  override post(...route: Route): void {
    this.record('POST', route);
    super.post(...(route as [never, never]));
  }

  override put(...route: Route): void {
    this.record('PUT', route);
    super.put(...(route as [never, never]));
  }

  override patch(...route: Route): void {
    this.record('PATCH', route);
    super.patch(...(route as [never, never]));
  }

  override delete(...route: Route): void {
    this.record('DELETE', route);
    super.delete(...(route as [never, never]));
  }

  private record(method: string, [path]: Route): void {
    if (typeof path !== 'string') return;
    this.methods.all(path, (_request, response, next) => {
      (response.locals['allowed'] as Set<string>).add(method);
      next();
    });
  }
}
