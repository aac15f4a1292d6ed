import type { DataSource } from 'typeorm';
import { onConnection } from '../database/connection.js';
import { isLostStatement } from '../database/postgres-errors.js';
import type { Querying } from '../database/querying.js';
import { inTransaction } from '../database/transaction.js';
import { AppError } from '../errors/app-error.js';
import { errorReply } from '../errors/error-body.js';
import type { Answer } from '../http/answer.js';
import { type Claim, claim, keep } from './idempotency.repository.js';

/**
 * Answers one request with 200, once per `Idempotency-Key`: an earlier answer is sent again as the same text. Without a key
 * `work` runs without a transaction, and must write with a single statement. An error that `work` returns (409 or 422, nothing
 * written) is kept too, and thrown after the commit. An error that `work` throws rolls back everything, the claim included.
 * `keyReused` is the error for another body with the same key.
 */
export async function answerOnce<Body extends object>(
  dataSource: DataSource,
  one: Claim | undefined,
  keyReused: () => AppError,
  work: (database: Querying) => Promise<Body | AppError>,
): Promise<Answer<Body | string>> {
  const result =
    one === undefined
      ? answerOf(await prepared(dataSource, work))
      : await inTransaction(dataSource, async (manager) => {
          const [outcome] = await claim(manager, [one]);
          if (outcome?.state === 'replay') return outcome.answer;
          if (outcome?.state !== 'claimed') return keyReused();
          const answer = answerOf(await work(manager));
          await keep(manager, [
            { claim: one, answer: answer instanceof AppError ? errorReply(answer, one.path) : answer },
          ]);
          return answer;
        });
  if (result instanceof AppError) throw result;
  return result;
}

/** PostgreSQL parses and plans a prepared statement once. One that a pooler has lost was not executed. */
async function prepared<T>(dataSource: DataSource, work: (database: Querying) => Promise<T>): Promise<T> {
  const run = () => onConnection(dataSource, work, { prepared: true });
  try {
    return await run();
  } catch (error) {
    if (!isLostStatement(error)) throw error;
    return run();
  }
}

function answerOf<Body extends object>(result: Body | AppError): Answer<Body> | AppError {
  return result instanceof AppError ? result : { status: 200, headers: {}, body: result };
}
