import { setTimeout as delay } from 'node:timers/promises';

/** Repeats an expectation until it holds; after `withinMs` its last failure is the test's. */
export async function eventually(expectation: () => void | Promise<void>, withinMs = 5_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      await expectation();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(20);
    }
  }
}
