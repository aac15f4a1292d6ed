import type { Application, Request, RequestHandler } from 'express';
import type { ServerLimits } from './server-limits.js';

/** What the readers of bodies hold a sender to. */
export type ReadLimits = Pick<ServerLimits, 'jsonBody' | 'uploadPause'>;

/** Where the Express application keeps them. */
const LIMITS = 'haulbridge read limits';
const READER = 'haulbridge body reader';

/** Reads bodies of at most `maxBytes`. */
export interface BodyReader {
  readonly maxBytes: number;
  readonly read: RequestHandler;
}

export function setReadLimits(application: Application, limits: ReadLimits, reader: BodyReader): void {
  application.set(LIMITS, limits).set(READER, reader);
}

export const readLimits = (request: Request): ReadLimits => request.app.get(LIMITS) as ReadLimits;

/** The application's reader of bodies of at most `HTTP_BODY_LIMIT` bytes. */
export const bodyReader = (request: Request): BodyReader => request.app.get(READER) as BodyReader;
