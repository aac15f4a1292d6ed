import { createParamDecorator } from '@nestjs/common';
import type { AuthenticatedRequest, Principal } from '../../auth/principal.js';

/** Who asks, and the request: links of the answer begin with the address that was asked. */
export interface VisionCaller {
  readonly principal: Principal;
  readonly request: AuthenticatedRequest;
}

export const AskedBy = createParamDecorator((_data: unknown, context): VisionCaller => {
  const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (request.principal === undefined) throw new Error('@AskedBy() stands on a route without an API-key guard');
  return { principal: request.principal, request };
});
