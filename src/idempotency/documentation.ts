import type { ApiHeaderOptions, ApiResponseOptions } from '@nestjs/swagger';
import { REPLAYED_MARK } from './claims.js';
import { KEY_HEADER } from './idempotency-key.js';

/** The request header of decision 16, as the OpenAPI documents show it; without an example, which a page would send with every body. */
export const IDEMPOTENCY_HEADER: ApiHeaderOptions = {
  name: KEY_HEADER,
  description:
    'Makes the request safe to send again: the same key with the same body gets the first answer again, for 24 hours',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

/** The header of a repeated answer. */
export const REPLAYED_HEADER: NonNullable<Extract<ApiResponseOptions, { headers?: unknown }>['headers']> = {
  [REPLAYED_MARK]: {
    description: 'Present where this is the first answer to the `Idempotency-Key` again',
    schema: { type: 'string', enum: ['true'] },
  },
};
