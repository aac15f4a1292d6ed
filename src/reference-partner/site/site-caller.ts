import type { Response } from 'express';
import type { InjectedScenario } from '../../contracts/sandbox/scenarios.js';
import type { FaultedRequest } from '../../http/faulted-request.js';
import { principalOf } from '../../auth/hosted-call.js';
import type { AuthenticatedRequest, Principal } from '../../auth/principal.js';

/** Who asks, how it wants to be answered, and where the answer's headers go. */
export interface SiteCaller {
  readonly principal: Principal;
  readonly acceptsGzip: boolean;
  readonly ifNoneMatch: string | undefined;
  readonly response: Response;
  readonly scenario: InjectedScenario | undefined;
}

export function siteCallerOf(call: AuthenticatedRequest & FaultedRequest): SiteCaller {
  if (call.res === undefined) throw new Error('the request came without its response');
  return {
    principal: principalOf(call),
    acceptsGzip: call.acceptsEncodings(['gzip', 'identity']) === 'gzip',
    ifNoneMatch: call.headers['if-none-match'],
    response: call.res,
    scenario: call.scenario,
  };
}
