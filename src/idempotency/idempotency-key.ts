import { createHash } from 'node:crypto';
import type { ApiContract, KindOf } from '../contracts/common/api-contract.js';
import { type AppError, invalid, violated } from '../errors/app-error.js';
import { type BodyRequest, rawBodyOf } from '../http/json-body.js';
import { soleHeader } from '../http/sole-header.js';
import type { Claim } from './claims.js';

export const KEY_HEADER = 'Idempotency-Key';
const ACCEPTABLE = /^[\x21-\x7e]{1,255}$/;

/**
 * The caller's `Idempotency-Key`; undefined where it sent none. Empty, longer than 255, not visible ASCII or repeated:
 * 400 (decision 16).
 */
function idempotencyKeyOf(request: BodyRequest): string | undefined {
  if (request.headers[KEY_HEADER.toLowerCase()] === undefined) return undefined;
  const key = soleHeader(request, KEY_HEADER);
  if (key !== undefined && ACCEPTABLE.test(key)) return key;
  const message = `${KEY_HEADER} must be sent once, as 1 to 255 visible ASCII characters`;
  throw invalid([{ path: KEY_HEADER, rule: 'isIdempotencyKey', message }]);
}

/**
 * What a request whose body `@JsonBody()` has read claims on a route of `api`: hauler, path, key, and a fingerprint of
 * the body byte for byte. Undefined without an `Idempotency-Key`.
 */
export function claimOf(request: BodyRequest, api: ApiContract, path: string, haulerId: string): Claim | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const fingerprint = createHash('sha256').update(rawBodyOf(request)).digest();
  return { haulerId, path: api.prefix + path, key, fingerprint };
}

/** The same key with another body: Scale says 422, Account 409 (decision 16). */
export function keyReused<Api extends ApiContract>(api: Api, kind: Exclude<KindOf<Api>, 'invalid'>): AppError {
  const message = `this ${KEY_HEADER} was used with another body; a new request needs a new key`;
  return violated(api, kind, [{ path: KEY_HEADER, rule: 'isNewKey', message }], {
    details: { reason: 'IDEMPOTENCY_KEY_REUSED' },
  });
}
