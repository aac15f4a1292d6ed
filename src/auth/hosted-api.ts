import { applyDecorators, Controller, SetMetadata, UseGuards } from '@nestjs/common';
import { ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { type ApiContract, type ErrorKind, KIND_STATUS } from '../contracts/common/api-contract.js';
import { ErrorResponse } from '../contracts/common/error-body.dto.js';
import { ApiKeyGuard, HOSTED_CONTRACT } from './api-key.guard.js';

/** One line above a controller names its contract: prefix, key, documentation and error replies come with it. */
export function HostedApi(api: ApiContract): ClassDecorator {
  return applyDecorators(
    Controller(api.prefix),
    SetMetadata(HOSTED_CONTRACT, api),
    UseGuards(ApiKeyGuard),
    ApiSecurity(api.keyHeader),
    ...errorReplies(api),
  );
}

/** Section 4 names these for every route; what else a contract can answer is told where a route adds it. */
const DOCUMENTED: Partial<Record<ErrorKind, string>> = {
  invalid: 'A field is missing or malformed; `details.violations` names every one',
  unauthorized: 'The API key is missing or does not match',
  notFound: 'There is no such thing',
  conflict: 'It exists already',
  ruleViolated: 'A business rule is violated; `details.violations` names every offending element',
  tooManyRequests: 'Too many requests with this key; `Retry-After` says when to come back',
  internal: 'Unexpected error; `details.requestId` names the incident',
  unavailable: 'The service cannot answer now; `Retry-After` says when to come back',
};

/** What only a body can bring about; told where one is taken. */
const OF_BODIES: Partial<Record<ErrorKind, string>> = {
  requestTimeout: 'The body did not arrive in time',
  tooLarge: 'The body is too large',
  unsupportedMediaType: 'The body is no `application/json`, or has an unknown content coding',
};

/** Stands above a route that takes a JSON body. */
export function TakesJson(): MethodDecorator {
  return applyDecorators(
    ...Object.entries(OF_BODIES).map(([kind, description]) => reply(kind as ErrorKind, description)),
  );
}

export function errorReplies(api: ApiContract): ReturnType<typeof ApiResponse>[] {
  const routes = Object.values(api.routes);
  // Of a contract that only reads, nothing can break a business rule, though it has a code for that.
  const readsOnly = routes.length > 0 && routes.every(({ method }) => method === 'GET');
  return (Object.entries(DOCUMENTED) as [ErrorKind, string][])
    .filter(([kind]) => api.errors[kind] !== undefined && !(readsOnly && kind === 'ruleViolated'))
    .map(([kind, description]) => reply(kind, description));
}

const reply = (kind: ErrorKind, description: string) =>
  ApiResponse({ status: KIND_STATUS[kind], description, type: ErrorResponse });
