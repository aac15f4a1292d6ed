import { createParamDecorator } from '@nestjs/common';
import type { Response } from 'express';
import type { AuthenticatedRequest, Principal } from '../../auth/principal.js';

/** Who asks, how it wants to be answered, and where the answer's headers go. */
export interface SiteCaller {
  readonly principal: Principal;
  readonly acceptsGzip: boolean;
  readonly ifNoneMatch: string | undefined;
  readonly response: Response;
}

export const AskedBy = createParamDecorator((_data: unknown, context): SiteCaller => {
  const http = context.switchToHttp();
  const request = http.getRequest<AuthenticatedRequest>();
  if (request.principal === undefined) throw new Error('@AskedBy() stands on a route without an API-key guard');
  return {
    principal: request.principal,
    acceptsGzip: request.acceptsEncodings(['gzip', 'identity']) === 'gzip',
    ifNoneMatch: request.headers['if-none-match'],
    response: http.getResponse<Response>(),
  };
});
