import type { DataSource } from 'typeorm';
import type { Querying } from '../database/querying.js';
import { inTransaction } from '../database/transaction.js';
import { AppError } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import type { Answer } from '../http/answer.js';
import { type Claim, claim, keep } from './idempotency.repository.js';

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
