import type { Request, Response } from 'express';
import type { Call } from '../core/http/call.js';
import type { HaulerPrincipal, Principal } from '../core/http/principal.js';

/**
 * The caller of a request. Routes call this function, because the global pipes would process a parameter with its own
 * decorator on every call.
 */
export function principalOf({ principal }: Call): Principal {
  if (principal === undefined) throw new Error('the route needs an API key');
  return principal;
}

/** The caller, and the response that receives headers. */
export function callContextOf({ call: { principal }, res: response }: Request): {
  caller: HaulerPrincipal;
  response: Response;
} {
  if (response === undefined || !hasHauler(principal)) throw new Error('the route needs the API key of a hauler');
  return { caller: principal, response };
}

function hasHauler(principal: Principal | undefined): principal is HaulerPrincipal {
  return typeof principal?.haulerId === 'string';
}
