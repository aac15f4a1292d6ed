import { createHash } from 'node:crypto';
import type pg from 'pg';

/** pg's types do not have the timeout of a single query. */
export interface TimedQuery extends pg.QueryConfig<unknown[]> {
  readonly query_timeout: number;
}

/** The name of each prepared statement, by its text. */
const statementNames = new Map<string, string>();

/**
 * A fixed set of texts: each stays prepared. The name is a hash of the text: behind a pooler another process may have prepared
 * a statement in the same session, and one name must never mean two texts.
 */
export function nameOf(sql: string): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    name = `hb_${createHash('sha256').update(sql).digest('base64url').slice(0, 22)}`;
    statementNames.set(sql, name);
  }
  return name;
}

/** Sends queries, on a pipelined connection without waiting for responses. Throws the first error, or returns the results. */
export async function sendAll(
  client: pg.ClientBase,
  queries: readonly TimedQuery[],
  isPipelined: boolean,
): Promise<pg.QueryResult[]> {
  const send = queries.map((query) => () => client.query(query));
  const results = isPipelined ? await Promise.allSettled(send.map((query) => query())) : await oneByOne(send);
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

async function oneByOne(
  send: readonly (() => Promise<pg.QueryResult>)[],
): Promise<PromiseSettledResult<pg.QueryResult>[]> {
  const results: PromiseSettledResult<pg.QueryResult>[] = [];
  for (const query of send) results.push(...(await Promise.allSettled([query()])));
  return results;
}

/** Keeps the error of the rows, which is none of the database. */
export class WatchedRows {
  error: unknown;

  constructor(private readonly rows: Iterable<string> | AsyncIterable<string | Buffer>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Buffer> {
    try {
      yield* this.rows;
    } catch (error) {
      this.error = error;
      throw error;
    }
  }
}
