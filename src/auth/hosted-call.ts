import type { Response } from 'express';
import type { BodyRequest } from '../http/json-body.js';
import type { RecordedRequest } from '../http/recorded-request.js';
import type { AuthenticatedRequest, HaulerPrincipal, Principal } from './principal.js';

/** One call of an interface that belongs to haulers, as a route gets it with Nest's `@Req()`. */
export type HostedCall = BodyRequest & AuthenticatedRequest & RecordedRequest;

/**
 * Who calls. Asked for by the route itself: a parameter with a decorator of ours would go through the global pipes for
 * every call, and come back as it was.
 */
export function principalOf({ principal }: AuthenticatedRequest): Principal {
  if (principal === undefined) throw new Error('the route needs an API key');
  return principal;
}

/** Who calls, and where the answer's own headers go. */
export function partiesOf({ principal, res: response }: HostedCall): { caller: HaulerPrincipal; response: Response } {
  if (response === undefined || !hasHauler(principal)) throw new Error("the route needs the API key of a hauler's");
  return { caller: principal, response };
}

function hasHauler(principal: AuthenticatedRequest['principal']): principal is HaulerPrincipal {
  return typeof principal?.haulerId === 'string';
}
