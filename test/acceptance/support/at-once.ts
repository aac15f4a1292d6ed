import { afterAll, beforeAll, test } from '@jest/globals';

/**
 * A table of cases that each wait for work of the background. All rows start together, before the first test of the file or
 * `describe`, so that the table takes as long as its slowest row. Each test reports its own row.
 */
export function testAtOnce<Row extends { readonly name: string }>(
  title: string,
  rows: readonly Row[],
  run: (row: Row) => Promise<unknown>,
): void {
  const runs = new Map<Row, Promise<unknown>>();
  beforeAll(() => {
    for (const row of rows) {
      const running = run(row);
      // Its test awaits the row later: until then, a failure is no unhandled rejection.
      running.catch(() => undefined);
      runs.set(row, running);
    }
  });
  // Also of rows whose tests were not run: none uses what the file ends.
  afterAll(() => Promise.allSettled(runs.values()));
  test.each(rows)(title, async (row) => void (await runs.get(row)));
}
