import type { Request, Response } from 'express';

/** What every request gets before it is routed; it neither waits, nor fails, nor answers. */
export type RequestHook = (request: Request, response: Response) => void;
