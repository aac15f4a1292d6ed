import type { QueryResult } from 'pg';

/** Runs a statement and returns the result of pg. */
type Run = (text: string, values?: unknown[]) => Promise<QueryResult>;

/**
 * What TypeORM needs of pg, whose statements `run` runs, so that they have the same rules as all others. TypeORM's own transactions are
 * not available: use `Database.transaction`.
 */
export function driverOver(run: Run): object {
  const connection = {
    query: async (text: string, values?: unknown[]) => {
      if (text.startsWith('START TRANSACTION')) throw new TypeError('TypeORM begins no transactions here');
      return run(text, values);
    },
    // A lost connection fails the statement that it runs.
    on: () => undefined,
    removeListener: () => undefined,
  };
  return {
    Pool: class {
      on(): void {}

      connect(connected: (error: unknown, client: typeof connection, release: () => void) => void): void {
        connected(undefined, connection, () => undefined);
      }

      end(ended: () => void): void {
        ended();
      }
    },
  };
}
