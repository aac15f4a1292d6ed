import { createParamDecorator } from '@nestjs/common';
import type { Response } from 'express';
import type { BodyRequest } from '../http/json-body.js';
import type { AuthenticatedRequest, HaulerPrincipal } from './principal.js';

/** One call of an interface that belongs to haulers: who calls, what was sent, and where an answer's own headers go. */
export interface HostedCall {
  readonly caller: HaulerPrincipal;
  readonly request: BodyRequest;
  readonly response: Response;
}

/** The whole call, for routes whose answers have headers of their own or may be asked for again. */
export const Call = createParamDecorator((_data: unknown, context): HostedCall => {
  const http = context.switchToHttp();
  const request = http.getRequest<AuthenticatedRequest>();
  const haulerId = request.principal?.haulerId;
  if (request.principal === undefined || haulerId == null) throw new Error("@Call() needs the API key of a hauler's");
  return { caller: { ...request.principal, haulerId }, request, response: http.getResponse<Response>() };
});
