import { AppError } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import type { Answer } from '../http/answer.js';
import { type Claim, claim, keep, type Runner } from './claims.js';

/**
 * Answers one request inside its transaction, once per `Idempotency-Key`: the kept answer if there is one, else what
 * `work` gives, which is kept. An error that `work` returns is an answer too, a 409 or 422 with nothing written; one
 * that it throws rolls back everything, the claim included.
 */
export async function answerOnce<Body>(
  runner: Runner,
  one: Claim | undefined,
  keyReused: () => AppError,
  work: () => Promise<Answer<Body> | AppError>,
): Promise<Answer<Body | string> | AppError> {
  if (one === undefined) return work();
  const [outcome] = await claim(runner, [one]);
  if (outcome?.state === 'replay') return outcome.answer;
  if (outcome?.state !== 'claimed') return keyReused();
  const result = await work();
  const answer = result instanceof AppError ? errorReply(result, one.path) : result;
  await keep(runner, [{ claim: one, answer }]);
  return result;
}
