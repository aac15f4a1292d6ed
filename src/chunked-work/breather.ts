import { setImmediate } from 'node:timers/promises';

/** What a computation may take of the event loop at a stretch, in milliseconds. */
const STRETCH_MS = 12;

/**
 * Lets a long computation share the event loop, so that requests are answered meanwhile:
 * `if (breather.isDue) await breather.rest()` after each small step.
 */
export class Breather {
  private begun = performance.now();

  get isDue(): boolean {
    return performance.now() - this.begun >= STRETCH_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.begun = performance.now();
  }
}
