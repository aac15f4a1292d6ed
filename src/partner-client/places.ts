/** One of a limited number of places: taken again and again, and left between. */
export interface Place {
  /** Waits until there is one; having it already, it does nothing. Rejects with the signal's reason. */
  take(signal?: AbortSignal): Promise<void>;
  leave(): void;
}

/** So many may be in at once; the others wait in the order in which they came. */
export class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** For one visitor; nothing is taken yet. */
  place(): Place {
    let taken = false;
    return {
      take: async (signal) => {
        if (taken) return;
        await this.#enter(signal);
        taken = true;
      },
      leave: () => {
        if (taken) this.#leave();
        taken = false;
      },
    };
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(enter);
    });
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
