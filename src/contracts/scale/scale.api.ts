import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import {
  IDEMPOTENCY_REQUEST,
  IDEMPOTENCY_RESPONSE,
  KEY_REUSED,
  KEY_REUSED_REASON,
  violationExample,
} from '../common/idempotency.js';
import type { Violation } from '../common/violation.js';
import {
  CreateScaleTicketRequest,
  CreateScaleTicketResponse,
  RESULT_HEADER,
  TICKET_RESULTS,
  VERSION_HEADER,
} from './scale.dto.js';

/**
 * A record that the platform does not have (decision 24). The message is long, because partners send our ids instead, or ids
 * of records that were never synchronised.
 */
export const unknownRecord = (path: string, rule: 'siteExists' | 'materialExists', what: string): Violation => ({
  path,
  rule,
  message: `${path} must be the id, in your own system, of ${what} that the platform has received by the Site API`,
});

export const unknownMaterial = (index: number): Violation =>
  unknownRecord(`materials[${index}].id`, 'materialExists', 'a material');

const FLOWS = ['inboundFlow', 'outboundFlow'] as const;

/** Flows that belong to different tickets (decision 20): the ids of the inbound flow's ticket and of the outbound flow's. */
export const flowConflict = (...ids: readonly [inbound: string, outbound: string]): Violation[] =>
  FLOWS.map((flow, i) => ({
    path: `${flow}.ticketNumber`,
    rule: 'flowConflict',
    message: `${flow}.ticketNumber belongs to ticket ${ids[i]}, the other flow to ticket ${ids[1 - i]}`,
  }));

/** How far ahead of our clock a push may be (decision 21). */
export const MAX_HOURS_AHEAD = 24;

/** One wrong clock would make every later push stale. `now` is the time of the platform. */
export const updatedAtInFuture = (flow: (typeof FLOWS)[number], now: string): Violation => ({
  path: `${flow}.updatedAt`,
  rule: 'updatedAtInFuture',
  message: `${flow}.updatedAt must be at most ${MAX_HOURS_AHEAD} hours ahead of the time of the platform, which is ${now}`,
});

const EXAMPLE_TICKETS = ['019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d', '019a8b7c-1a2b-7c3d-8e4f-5a6b7c8d9e0f'] as const;

const CODE = 'VALIDATION_ERROR';

/** Scale API 1.0.0 (sections 2.2, 2.3, 4.1): hosted by the platform, called by partners. */
export const SCALE_API = defineApi({
  name: 'scale',
  title: 'Scale API',
  version: '1.0.0',
  prefix: '/platform-api/v1',
  keyHeader: 'PLATFORM-API-KEY',
  routes: {
    createTicket: {
      method: 'POST',
      path: '/tickets',
      summary: 'Push a scale ticket',
      description:
        'Send it whenever a ticket is created or updated. A push whose flow is known updates that ticket; the newest wins, in whatever order pushes arrive.',
      requestHeaders: IDEMPOTENCY_REQUEST,
      body: CreateScaleTicketRequest,
      status: 200,
      response: CreateScaleTicketResponse,
      returns: 'The push is stored',
      responseHeaders: {
        [RESULT_HEADER]: {
          description: 'What the push did; `stale`: newer contents are stored, this push is in the history only',
          schema: { type: 'string', enum: [...TICKET_RESULTS] },
        },
        [VERSION_HEADER]: {
          description: 'With `stale`: the newest `updatedAt` of the push whose contents are stored',
          schema: { type: 'string', format: 'date-time', maxLength: 24 },
        },
        ...IDEMPOTENCY_RESPONSE,
      },
      fails: {
        ruleViolated: {
          description:
            'A business rule is violated: `details.violations` names every offending element. `details.reason` is `FLOW_CONFLICT` ' +
            'if the two flows belong to different tickets, and `IDEMPOTENCY_KEY_REUSED` if the key was used with another body',
          headers: IDEMPOTENCY_RESPONSE,
          examples: {
            'an unknown material': violationExample(CODE, [unknownMaterial(0)]),
            'flows of two tickets': violationExample(CODE, flowConflict(...EXAMPLE_TICKETS), 'FLOW_CONFLICT'),
            'a clock that is wrong': violationExample(CODE, [updatedAtInFuture('inboundFlow', '2026-01-31T08:30:02Z')]),
            'a key that was used with another body': violationExample(CODE, [KEY_REUSED], KEY_REUSED_REASON),
          },
        },
      },
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', CODE],
  errors: { ...COMMON_ERRORS, ruleViolated: CODE },
});
