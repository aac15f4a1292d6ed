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

/**
 * Work that runs again and again. A stop ends it after its step, and awaits that (`beforeApplicationShutdown`): the connections
 * are closed afterwards.
 */
export class Sweep<T = void> {
  private readonly stopping = new AbortController();
  private running: Promise<T> | undefined;

  /** `work` looks at the signal before each step. */
  constructor(private readonly work: (stopping: AbortSignal) => Promise<T>) {}

  /** Joins the run that is under way. */
  run(): Promise<T> {
    this.running ??= this.work(this.stopping.signal).finally(() => (this.running = undefined));
    return this.running;
  }

  /** Never rejects: the caller of `run` gets the error. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running?.catch(() => undefined);
  }
}
