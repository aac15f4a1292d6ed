import { setTimeout as delay } from 'node:timers/promises';

/** Repeats an expectation until it holds; after `withinMs` its last failure is the test's. Returns what it returned. */
export async function eventually<T>(expectation: () => T | Promise<T>, withinMs = 45_000, everyMs = 20): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await expectation();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(everyMs);
    }
  }
}
