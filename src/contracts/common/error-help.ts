import type { ErrorKind } from './api-contract.js';
import { type ErrorHelp, help } from './rules.js';

/** Cause and remedy of each kind of failure. `docs/errors.md` is made from them, code by code. */
export const KIND_HELP: Readonly<Record<ErrorKind, ErrorHelp>> = {
  invalid: help(
    'The body, a parameter or a header is missing or malformed. `details.violations` lists every fault.',
    'Correct what each violation names, and send again. The same request fails again.',
  ),
  unauthorized: help(
    'The key is missing, sent twice, unknown, expired, revoked, or one of another interface.',
    'Send the key once, in the header of the interface. Ask the platform for a new one.',
  ),
  forbidden: help(
    'The person or token is known, and its role or its haulers do not allow this. The message names what is needed.',
    'Ask an admin for a group with this role, or for the hauler to be added to your group.',
  ),
  notFound: help(
    'There is nothing with this id, or no such path. What belongs to another hauler does not exist for your key.',
    'Compare the id and the path with the document of the interface.',
  ),
  methodNotAllowed: help('The path does not support the method.', 'Use one of the methods in the header `Allow`.'),
  notAcceptable: help(
    '`Accept` asks for CSV or NDJSON alone, which the list does not have.',
    'Accept `application/json`, and read all pages.',
  ),
  requestTimeout: help('The request did not arrive in time.', 'Send it again. Compute the body before you connect.'),
  conflict: help(
    'The request contradicts what is stored; `details.reason` says how.',
    'Use what exists, as `details` names it. The same request fails again.',
  ),
  gone: help('The link has expired.', 'List again, and use the new link.'),
  tooLarge: help('The body is too large.', 'Send less at once; a ticket is one body, however many materials it has.'),
  unsupportedMediaType: help(
    'The body is not `application/json`, or has an unknown content coding.',
    'Send `Content-Type: application/json`, and gzip or no compression.',
  ),
  rangeNotSatisfiable: help(
    'The range is malformed, or lies outside of the file.',
    'Ask for a range within the size of `Content-Range`.',
  ),
  ruleViolated: help(
    'The body is well-formed, but breaks a rule of the platform. `details.violations` lists every element.',
    'Correct what each violation names. The same request fails again, unless the violation says otherwise.',
  ),
  tooManyRequests: help(
    'There were too many requests with this key.',
    'Send the same request again after `Retry-After` seconds.',
  ),
  internal: help(
    'An unexpected error of the service. Whether the request was executed is unknown.',
    'Send the same request again with the same `Idempotency-Key`. If it persists, report `details.requestId`.',
  ),
  unavailable: help(
    'The service or its database is overloaded or away.',
    'Send the same request again after `Retry-After` seconds, with the same `Idempotency-Key`.',
  ),
};

/** Every `reason` of the details. */
export const REASONS = {
  FLOW_CONFLICT: help(
    'Scale 422: the two flows of the push belong to two different tickets. Nothing was written.',
    'Send each flow with its own ticket. `violations` names both.',
  ),
  NAME_TAKEN: help(
    'Account 409: the hauler has an account with this name.',
    'Store `accountId` and `accountNumber` of the details: they are those of the existing account.',
  ),
  IDEMPOTENCY_KEY_REUSED: help(
    'The `Idempotency-Key` was used with another body within 24 hours: 422 of Scale, 409 of Account.',
    'Use a new key for a new request, and the same bytes for a repeat.',
  ),
} as const satisfies Readonly<Record<string, ErrorHelp>>;

export type ErrorReason = keyof typeof REASONS;
