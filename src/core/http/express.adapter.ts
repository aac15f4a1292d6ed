import { ExpressAdapter } from '@nestjs/platform-express';
import type { Application } from 'express';
import { helpAddressOf } from '../errors/help-address.js';
import { HttpServer, type ServerLimits } from './http-server.js';

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
