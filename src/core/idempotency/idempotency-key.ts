import { createHash, hash } from 'node:crypto';
import type { Request } from 'express';
import type { ApiContract, KindOf } from '../../contracts/common/api-contract.js';
import { KEY_HEADER, KEY_REUSED, KEY_REUSED_REASON } from '../../contracts/common/idempotency.js';
import type { Sql } from '../database/sql.js';
import { AppError, invalid, violated } from '../errors/app-error.js';
import { servedBy } from '../http/call.js';
import { rawBodyOf } from '../http/json-body.js';
import { soleHeader } from '../http/headers.js';
import { maskSecrets } from '../observability/known-secrets.js';
import { type Claim, claim, keep, type KeptAnswer } from './idempotency.repository.js';
import { errorReply, helpAddressOf } from '../errors/error-body.js';
import type { Answer } from '../http/answer.js';

const ACCEPTABLE = /^[\x21-\x7e]{1,255}$/;

/**
 * The caller's `Idempotency-Key`, if any. Throws 400 if it is empty, too long, not visible ASCII or repeated (decision 16).
 */
function idempotencyKeyOf(request: Request): string | undefined {
  if (request.headers[KEY_HEADER.toLowerCase()] === undefined) return undefined;
  const key = soleHeader(request, KEY_HEADER);
  if (key !== undefined && ACCEPTABLE.test(key)) return key;
  const message = `${KEY_HEADER} must be sent once, as 1 to 255 visible ASCII characters`;
  throw invalid([{ path: KEY_HEADER, rule: 'isIdempotencyKey', message }]);
}

/** The claim of a request; undefined without an `Idempotency-Key`. `@JsonBody()` must have read the body. */
export function claimOf(request: Request, haulerId: string): Claim | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const fingerprint = createHash('sha256').update(rawBodyOf(request.call)).digest();
  const { api, route } = servedBy(request.call);
  return { haulerId, path: api.prefix + route.path, key: storable(key), fingerprint, help: helpAddressOf(request) };
}

/** A caller may use its API key as the key of a request: a digest of it is stored. */
const storable = (key: string): string => (maskSecrets(key) === key ? key : `sha256:${hash('sha256', key)}`);

/** The error for the same key with another body: 422 in Scale, 409 in Account (decision 16). */
export function keyReused<Api extends ApiContract>(api: Api, kind: Exclude<KindOf<Api>, 'invalid'>): AppError {
  return violated(api, kind, [KEY_REUSED], { details: { reason: KEY_REUSED_REASON } });
}

/**
 * Answers requests once per `Idempotency-Key`, in the caller's transaction: an earlier answer is sent again as the same text,
 * and the others are the outcomes of `work`. An error that `work` returns (409 or 422, nothing written) is kept too. An error
 * that it throws rolls back everything, the claims included. A key that is a duplicate in the batch has no outcome: it needs
 * another call after this transaction, to find the answer of the first.
 */
export async function answerOncePerKey<Request extends { readonly claim: Claim | undefined }, Body>(
  database: Sql,
  requests: readonly Request[],
  keyReused: () => AppError,
  work: (claimed: readonly Request[]) => Promise<readonly (Answer<Body> | AppError)[]>,
): Promise<(Answer<Body | string> | AppError | undefined)[]> {
  const states = await claim(
    database,
    requests.flatMap((request) => request.claim ?? []),
  );
  const claimed = requests.filter((_, i) => states[i]?.state === 'claimed');
  const outcomes = claimed.length === 0 ? [] : await work(claimed);
  await keep(
    database,
    claimed.flatMap(({ claim: one }, i) => toKeptAnswer(one, outcomes[i])),
  );
  const worked = new Map(claimed.map((request, i) => [request, outcomes[i]]));
  return requests.map((request, i) => {
    const state = states[i];
    if (state?.state === 'replay') return state.answer;
    return state?.state === 'reused' ? keyReused() : worked.get(request);
  });
}

function toKeptAnswer(one: Claim | undefined, outcome: Answer | AppError | undefined): KeptAnswer[] {
  if (one === undefined || outcome === undefined) return [];
  return [{ claim: one, answer: outcome instanceof AppError ? errorReply(outcome, one.path, one.help) : outcome }];
}
