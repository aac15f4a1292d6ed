import { createHash, hash } from 'node:crypto';
import type { ApiHeaderOptions, ApiResponseOptions } from '@nestjs/swagger';
import type { DataSource } from 'typeorm';
import type { ApiContract, KindOf } from '../contracts/common/api-contract.js';
import { AppError, invalid, violated } from '../errors/app-error.js';
import { type BodyRequest, rawBodyOf } from '../http/json-body.js';
import { soleHeader } from '../http/headers.js';
import { maskSecrets } from '../observability/known-secrets.js';
import { type Claim, claim, keep, REPLAYED_MARK } from './idempotency.repository.js';
import type { Querying } from '../database/sql.js';
import { inTransaction } from '../database/transaction.js';
import { errorReply } from '../errors/error-body.js';
import type { Answer } from '../http/answer.js';

export const KEY_HEADER = 'Idempotency-Key';
const ACCEPTABLE = /^[\x21-\x7e]{1,255}$/;

/**
 * The caller's `Idempotency-Key`, if any. Throws 400 if it is empty, too long, not visible ASCII or repeated (decision 16).
 */
function idempotencyKeyOf(request: BodyRequest): string | undefined {
  if (request.headers[KEY_HEADER.toLowerCase()] === undefined) return undefined;
  const key = soleHeader(request, KEY_HEADER);
  if (key !== undefined && ACCEPTABLE.test(key)) return key;
  const message = `${KEY_HEADER} must be sent once, as 1 to 255 visible ASCII characters`;
  throw invalid([{ path: KEY_HEADER, rule: 'isIdempotencyKey', message }]);
}

/**
 * The claim of a request on a route of `api`; undefined without an `Idempotency-Key`. `@JsonBody()` must have read the
 * body.
 */
export function claimOf(request: BodyRequest, api: ApiContract, path: string, haulerId: string): Claim | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const fingerprint = createHash('sha256').update(rawBodyOf(request)).digest();
  return { haulerId, path: api.prefix + path, key: storable(key), fingerprint };
}

/** A caller may use its API key as the key of a request: a digest of it is stored. */
const storable = (key: string): string => (maskSecrets(key) === key ? key : `sha256:${hash('sha256', key)}`);

/** The error for the same key with another body: 422 in Scale, 409 in Account (decision 16). */
export function keyReused<Api extends ApiContract>(api: Api, kind: Exclude<KindOf<Api>, 'invalid'>): AppError {
  const message = `this ${KEY_HEADER} was used with another body; a new request needs a new key`;
  return violated(api, kind, [{ path: KEY_HEADER, rule: 'isNewKey', message }], {
    details: { reason: 'IDEMPOTENCY_KEY_REUSED' },
  });
}

/**
 * The request header in the OpenAPI documents (decision 16). It has no example, because Swagger UI would send it with every
 * body.
 */
export const IDEMPOTENCY_HEADER: ApiHeaderOptions = {
  name: KEY_HEADER,
  description:
    'Makes the request safe to send again: the same key with the same body gets the first answer again, for 24 hours',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

/** The response header of a repeated answer. */
export const REPLAYED_HEADER: NonNullable<Extract<ApiResponseOptions, { headers?: unknown }>['headers']> = {
  [REPLAYED_MARK]: {
    description: 'Present if this is the first answer to the `Idempotency-Key` again',
    schema: { type: 'string', enum: ['true'] },
  },
};

/**
 * Answers one request with 200, once per `Idempotency-Key`: an earlier answer is sent again as the same text. An error that
 * `work` returns (409 or 422, nothing written) is kept too, and thrown after the commit. An error that `work` throws rolls back
 * everything, the claim included. `keyReused` is the error for another body with the same key.
 */
export async function answerOnce<Body extends object>(
  dataSource: DataSource,
  one: Claim,
  keyReused: () => AppError,
  work: (database: Querying) => Promise<Body | AppError>,
): Promise<Answer<Body | string>> {
  const result = await inTransaction(dataSource, async (manager) => {
    const [outcome] = await claim(manager, [one]);
    if (outcome?.state === 'replay') return outcome.answer;
    if (outcome?.state !== 'claimed') return keyReused();
    const body = await work(manager);
    const answer = body instanceof AppError ? body : { status: 200, headers: {}, body };
    await keep(manager, [{ claim: one, answer: answer instanceof AppError ? errorReply(answer, one.path) : answer }]);
    return answer;
  });
  if (result instanceof AppError) throw result;
  return result;
}
