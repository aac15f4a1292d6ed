import { randomUUID } from 'node:crypto';
import type { RequestHook } from './request-hook.js';

const ACCEPTABLE = /^[\x21-\x7e]{1,128}$/;

/** Every answer carries `X-Request-Id`; a caller's own is echoed if it is harmless (decision 14). */
export const requestId: RequestHook = (request, response) => {
  const given = request.headers['x-request-id'];
  response.setHeader('X-Request-Id', typeof given === 'string' && ACCEPTABLE.test(given) ? given : randomUUID());
};
