import type { ErrorKind } from './api-contract.js';
import type { ErrorHelp } from './rules.js';

/** Cause and remedy of each kind of failure. `docs/errors.md` is made from them, code by code. */
export const KIND_HELP: Readonly<Record<ErrorKind, ErrorHelp>> = {
  invalid: {
    cause: 'The body, a parameter or a header is missing or malformed. `details.violations` lists every fault.',
    remedy: 'Correct what each violation names, and send again. The same request fails again.',
  },
  unauthorized: {
    cause: 'The key is missing, sent twice, unknown, expired, revoked, or one of another interface.',
    remedy: 'Send the key once, in the header of the interface. Ask the platform for a new one.',
  },
  forbidden: {
    cause:
      'The person or token is known, and its role or its haulers do not allow this. The message names what is needed.',
    remedy: 'Ask an admin for a group with this role, or for the hauler to be added to your group.',
  },
  notFound: {
    cause:
      'There is nothing with this id, or no such path. What belongs to another hauler does not exist for your key.',
    remedy: 'Compare the id and the path with the document of the interface.',
  },
  methodNotAllowed: {
    cause: 'The path does not support the method.',
    remedy: 'Use one of the methods in the header `Allow`.',
  },
  notAcceptable: {
    cause: '`Accept` asks for CSV or NDJSON alone, which the list does not have.',
    remedy: 'Accept `application/json`, and read all pages.',
  },
  requestTimeout: {
    cause: 'The request did not arrive in time.',
    remedy: 'Send it again. Compute the body before you connect.',
  },
  conflict: {
    cause: 'The request contradicts what is stored; `details.reason` says how.',
    remedy: 'Use what exists, as `details` names it. The same request fails again.',
  },
  gone: { cause: 'The link has expired.', remedy: 'List again, and use the new link.' },
  tooLarge: {
    cause: 'The body is too large.',
    remedy: 'Send less at once; a ticket is one body, however many materials it has.',
  },
  unsupportedMediaType: {
    cause: 'The body is not `application/json`, or has an unknown content coding.',
    remedy: 'Send `Content-Type: application/json`, and gzip or no compression.',
  },
  rangeNotSatisfiable: {
    cause: 'The range is malformed, or lies outside of the file.',
    remedy: 'Ask for a range within the size of `Content-Range`.',
  },
  ruleViolated: {
    cause: 'The body is well-formed, but breaks a rule of the platform. `details.violations` lists every element.',
    remedy: 'Correct what each violation names. The same request fails again, unless the violation says otherwise.',
  },
  tooManyRequests: {
    cause: 'There were too many requests with this key.',
    remedy: 'Send the same request again after `Retry-After` seconds.',
  },
  internal: {
    cause: 'An unexpected error of the service. Whether the request was executed is unknown.',
    remedy: 'Send the same request again with the same `Idempotency-Key`. If it persists, report `details.requestId`.',
  },
  unavailable: {
    cause: 'The service or its database is overloaded or away.',
    remedy: 'Send the same request again after `Retry-After` seconds, with the same `Idempotency-Key`.',
  },
};

/** Every `reason` of the details. */
export const REASONS = {
  FLOW_CONFLICT: {
    cause: 'Scale 422: the two flows of the push belong to two different tickets. Nothing was written.',
    remedy: 'Send each flow with its own ticket. `violations` names both.',
  },
  NAME_TAKEN: {
    cause: 'Account 409: the hauler has an account with this name.',
    remedy: 'Store `accountId` and `accountNumber` of the details: they are those of the existing account.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    cause: 'The `Idempotency-Key` was used with another body within 24 hours: 422 of Scale, 409 of Account.',
    remedy: 'Use a new key for a new request, and the same bytes for a repeat.',
  },
} as const satisfies Readonly<Record<string, ErrorHelp>>;

export type ErrorReason = keyof typeof REASONS;
