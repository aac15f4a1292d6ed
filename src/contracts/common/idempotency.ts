import type { ErrorBody } from './error-body.dto.js';
import { summarise, type Violation } from './violation.js';

export const KEY_HEADER = 'Idempotency-Key';

/** The response header of a repeated answer. */
export const REPLAYED_HEADER = 'Idempotency-Replayed';

/** Documents the request header (decision 16). It has no example, because Swagger UI would send it with every body. */
export const IDEMPOTENCY_REQUEST = {
  [KEY_HEADER]: {
    description:
      'Makes the request safe to send again: the same key with the same body gets the first answer again, for 24 hours',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
} as const;

export const IDEMPOTENCY_RESPONSE = {
  [REPLAYED_HEADER]: {
    description: 'Present if this is the first answer to the `Idempotency-Key` again',
    schema: { type: 'string', enum: ['true'] },
  },
} as const;

export const KEY_REUSED = {
  path: KEY_HEADER,
  rule: 'isNewKey',
  message: `this ${KEY_HEADER} was used with another body; a new request needs a new key`,
} as const satisfies Violation;

export const KEY_REUSED_REASON = 'IDEMPOTENCY_KEY_REUSED';

/** The `error` of a response with violations, as an example. */
export function violationExample(code: string, violations: readonly Violation[], reason?: string): ErrorBody {
  const details = { ...(reason === undefined ? {} : { reason }), violations };
  return { code, message: summarise(violations), details };
}
