import type { Sql } from './sql.js';

const STEP_ROWS = 1_000;

/**
 * Runs a DELETE of at most `$1` rows until nothing is left. `parameters` are those from `$2` on. Each step is a transaction of its own, so that an interrupted
 * retention has made progress, and no statement reaches its time limit.
 */
export async function deleteInSteps(
  database: Sql,
  text: string,
  parameters: readonly unknown[] = [],
  stopping?: AbortSignal,
): Promise<void> {
  let deleted = STEP_ROWS;
  while (deleted === STEP_ROWS && stopping?.aborted !== true) {
    deleted = await database.change(text, [STEP_ROWS, ...parameters]);
  }
}
