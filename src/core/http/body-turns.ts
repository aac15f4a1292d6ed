import { setImmediate } from 'node:timers/promises';

/** A smaller body is processed at once: it holds the event loop for less than a turn costs. */
export const MAX_UNQUEUED_BYTES = 4 * 1024;

/**
 * Gives each larger body a turn of the event loop of its own, in the order of arrival: decoding, parsing and validating 1 MiB takes
 * some 10 ms, and other requests are served between two bodies.
 */
export class BodyTurns {
  private last: Promise<void> = Promise.resolve();

  /** Resolves when the body may be processed. */
  wait(): Promise<void> {
    this.last = this.last.then(() => setImmediate());
    return this.last;
  }
}
