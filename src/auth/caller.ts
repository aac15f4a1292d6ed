import type { Response } from 'express';
import type { BodyRequest } from '../http/json-body.js';
import type { RecordedRequest, ServedRequest } from '../http/recorded-request.js';
import type { AuthenticatedRequest, HaulerPrincipal, Principal } from './principal.js';

/** The request of a Scale or Account call, as a route receives it with `@Req()`. */
export type ServedCall = BodyRequest & AuthenticatedRequest & RecordedRequest & ServedRequest;

/**
 * The caller of a request. Routes call this function, because the global pipes would process a parameter with its own
 * decorator on every call.
 */
export function principalOf({ principal }: AuthenticatedRequest): Principal {
  if (principal === undefined) throw new Error('the route needs an API key');
  return principal;
}

/** The caller, and the response that receives headers. */
export function callContextOf({ principal, res: response }: ServedCall): {
  caller: HaulerPrincipal;
  response: Response;
} {
  if (response === undefined || !hasHauler(principal)) throw new Error('the route needs the API key of a hauler');
  return { caller: principal, response };
}

function hasHauler(principal: AuthenticatedRequest['principal']): principal is HaulerPrincipal {
  return typeof principal?.haulerId === 'string';
}
