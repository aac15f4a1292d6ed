import type { NextFunction, RequestHandler } from 'express';

/** One middleware of several: each layer of Express's router costs every request some closures. */
export const inSequence =
  (...handlers: readonly RequestHandler[]): RequestHandler =>
  (request, response, next) => {
    let called = 0;
    const callNext: NextFunction = (error?: unknown) => {
      const handler = handlers[called++];
      if (error !== undefined || handler === undefined) next(error);
      else void handler(request, response, callNext);
    };
    callNext();
  };
