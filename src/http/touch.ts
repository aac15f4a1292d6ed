import type { Request, RequestHandler, Response } from 'express';

/** What every request gets before it is routed; it neither waits, nor fails, nor answers. */
export type Touch = (request: Request, response: Response) => void;

/** All of them as one layer of Express's router, each of which costs every request as much as what it does. */
export function touching(...touches: readonly Touch[]): RequestHandler {
  return (request, response, next) => {
    for (const touch of touches) touch(request, response);
    next();
  };
}
