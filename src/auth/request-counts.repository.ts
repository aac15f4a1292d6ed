import type { Querying } from '../database/sql.js';

/** What all instances have counted of a key, and how long its minute still lasts. */
export interface CountedRow {
  readonly keyId: string;
  readonly requests: number;
  readonly endsInMs: number;
}

/** Adds requests to the minutes of keys. A minute begins with the first request after the one before has ended. */
export function addRequests(
  database: Querying,
  counts: readonly (readonly [keyId: string, requests: number])[],
): Promise<CountedRow[]> {
  // In one order, so that instances wait for each other and cannot deadlock.
  const sorted = counts.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return database.query(
    `INSERT INTO request_counts AS counted (key_id, requests, ends_at)
     SELECT key_id, requests, now() + interval '1 minute' FROM unnest($1::uuid[], $2::int[]) AS used (key_id, requests)
     ON CONFLICT (key_id) DO UPDATE SET
       requests = excluded.requests + CASE WHEN counted.ends_at > now() THEN counted.requests ELSE 0 END,
       ends_at = CASE WHEN counted.ends_at > now() THEN counted.ends_at ELSE excluded.ends_at END
     RETURNING key_id AS "keyId", requests::float8 AS requests,
       (extract(epoch FROM ends_at - now()) * 1000)::float8 AS "endsInMs"`,
    [sorted.map(([keyId]) => keyId), sorted.map(([, requests]) => requests)],
  );
}
