import type { DataSource, EntityManager } from 'typeorm';
import { inTransaction } from '../database/transaction.js';
import { AppError } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import type { Answer } from '../http/answer.js';
import { type Claim, claim, keep } from './claims.js';

/**
 * Answers one request with 200 in one transaction, and once per `Idempotency-Key`: a kept answer goes out again, as
 * the text that it was. An error that `work` returns, a 409 or 422 with nothing written, is kept too, and thrown after
 * the commit; one that it throws rolls back everything, the claim included. `keyReused` says how the interface refuses
 * another body under the same key.
 */
export async function answerOnce<Body extends object>(
  dataSource: DataSource,
  one: Claim | undefined,
  keyReused: () => AppError,
  work: (manager: EntityManager) => Promise<Body | AppError>,
): Promise<Answer<Body | string>> {
  const result = await inTransaction(dataSource, async (manager) => {
    if (one === undefined) return answerOf(await work(manager));
    const [outcome] = await claim(manager, [one]);
    if (outcome?.state === 'replay') return outcome.answer;
    if (outcome?.state !== 'claimed') return keyReused();
    const answer = answerOf(await work(manager));
    await keep(manager, [{ claim: one, answer: answer instanceof AppError ? errorReply(answer, one.path) : answer }]);
    return answer;
  });
  if (result instanceof AppError) throw result;
  return result;
}

function answerOf<Body extends object>(result: Body | AppError): Answer<Body> | AppError {
  return result instanceof AppError ? result : { status: 200, headers: {}, body: result };
}
