import type { Querying } from './sql.js';

/** Counting more rows than this costs more than a page is worth: beyond it the planner's estimate is returned. */
export const COUNTED_ROWS = 200_000;

/**
 * How many rows `query` has, for the pagination of a list: exact up to 200,000, from there on about as many as
 * PostgreSQL expects.
 */
export async function countRows(database: Querying, query: string, parameters: readonly unknown[]): Promise<number> {
  const limited = `SELECT count(*)::int AS rows FROM (${query} LIMIT ${COUNTED_ROWS + 1}) AS counted`;
  const [counted] = await database.query<[{ rows: number }]>(limited, [...parameters]);
  if (counted.rows <= COUNTED_ROWS) return counted.rows;
  return Math.max(counted.rows, await expectedRows(database, query, parameters));
}

/** How many rows PostgreSQL expects `query` to have. */
export async function expectedRows(database: Querying, query: string, parameters: readonly unknown[]): Promise<number> {
  const [planned] = await database.query<[{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }]>(
    `EXPLAIN (FORMAT JSON) ${query}`,
    [...parameters],
  );
  return planned['QUERY PLAN'][0].Plan['Plan Rows'];
}
