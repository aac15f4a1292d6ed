/** Aborts its signal after so many milliseconds; those in which something is waited for `aside` do not count. */
export class Deadline {
  readonly #abort = new AbortController();
  #left: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(milliseconds: number) {
    this.#left = milliseconds;
    this.#start();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** What `wait` gives. */
  async aside<T>(wait: () => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    this.#left -= performance.now() - this.#startedAt;
    try {
      return await wait();
    } finally {
      this.#start();
    }
  }

  /** Nothing is waited for any more. */
  clear(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }

  #start(): void {
    if (this.#over) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#abort.abort(), this.#left);
  }
}
