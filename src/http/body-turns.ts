import { FairQueue, type Lane } from '../database/fair-queue.js';

/** A smaller body is processed at once: it holds the event loop for less than a turn costs. */
export const MAX_UNQUEUED_BYTES = 4 * 1024;

/** Bytes that one turn of the event loop processes. A larger body has a turn of its own, of some 10 ms for 1 MiB. */
const BYTES_PER_TURN = 128 * 1024;

interface Turn {
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Spreads the processing of larger bodies (decoding, parsing, validation, all of them synchronous) over turns of the event
 * loop, in which other requests are served, and shares the turns among the haulers. The receiving budget limits how many
 * bodies wait.
 */
export class BodyTurns {
  private readonly queue = new FairQueue<Turn>(Infinity, Infinity);
  private isScheduled = false;

  /** Resolves when a body of this size may be processed. */
  wait(bytes: number, lane: Lane): Promise<void> {
    return new Promise((begin) => {
      this.queue.push({ bytes, begin }, lane);
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.isScheduled || this.queue.size === 0) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.take();
      this.schedule();
    });
  }

  private take(): void {
    let bytes = 0;
    for (let turn = this.queue.first(); turn !== undefined; turn = this.queue.first()) {
      if (bytes > 0 && bytes + turn.bytes > BYTES_PER_TURN) return;
      bytes += turn.bytes;
      this.queue.shift();
      turn.begin();
    }
  }
}
