const CHECK_MS = 500;

/** A transfer that is slower than this for `STALLED_MS` waits for its host. */
const MIN_BYTES_PER_SECOND = 16 * 1024;
const STALLED_MS = 3_000;

/**
 * Reports that a transfer begins or ends to wait for its host: for the connection, for the first byte, for more bytes, or
 * because bytes only trickle. The time in which the transfer waits for the storage does not count.
 */
export class StallWatch {
  #bytes = 0;
  #slowMs = 0;
  #isStalled = false;
  #waitsForHost = true;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly onChange: (isStalled: boolean) => void) {
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
  }

  /** Bytes arrived. The transfer stores them until it calls `waitForHost`. */
  received(bytes: number): void {
    this.#bytes += bytes;
    this.#waitsForHost = false;
  }

  waitForHost(): void {
    this.#waitsForHost = true;
  }

  /** No byte is missing. */
  stop(): void {
    clearInterval(this.#timer);
    this.#report(false);
  }

  #check(): void {
    const isSlow = this.#waitsForHost && this.#bytes < (MIN_BYTES_PER_SECOND * CHECK_MS) / 1_000;
    this.#bytes = 0;
    this.#slowMs = isSlow ? this.#slowMs + CHECK_MS : 0;
    this.#report(this.#slowMs >= STALLED_MS);
  }

  #report(isStalled: boolean): void {
    if (isStalled === this.#isStalled) return;
    this.#isStalled = isStalled;
    this.onChange(isStalled);
  }
}
