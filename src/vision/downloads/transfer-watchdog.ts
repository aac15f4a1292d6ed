import { DownloadError } from './download-error.js';

export interface TransferLimits {
  /** The longest time without a byte, in milliseconds. */
  readonly idleMs: number;
  /** Fewer bytes per second than this, on average over `slowMs`, are too slow. */
  readonly minBytesPerSecond: number;
  readonly slowMs: number;
}

const MAX_INTERVAL_MS = 1_000;

/**
 * Ends a transfer that makes no progress. It looks at intervals, and skips those in which the transfer waited for the
 * storage, because a slow storage is not the host's fault.
 */
export class TransferWatchdog {
  #received = 0;
  #idleMs = 0;
  #window = { ms: 0, bytes: 0 };
  readonly #timer: NodeJS.Timeout;
  readonly #intervalMs: number;
  #isWaiting = true;

  /** Begins to wait for the host. */
  constructor(
    private readonly host: string,
    private readonly limits: TransferLimits,
    private readonly expire: (error: DownloadError) => void,
  ) {
    this.#intervalMs = Math.min(MAX_INTERVAL_MS, limits.idleMs / 10, limits.slowMs / 10);
    this.#timer = setInterval(() => this.#look(), this.#intervalMs);
  }

  /** Bytes arrived, and the transfer works on them until `waitForHost`. */
  received(bytes: number): void {
    this.#received += bytes;
    this.#isWaiting = false;
  }

  waitForHost(): void {
    this.#isWaiting = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const bytes = this.#received;
    this.#received = 0;
    if (bytes === 0 && !this.#isWaiting) return;
    this.#idleMs = bytes > 0 ? 0 : this.#idleMs + this.#intervalMs;
    this.#window.ms += this.#intervalMs;
    this.#window.bytes += bytes;
    const { idleMs, slowMs, minBytesPerSecond } = this.limits;
    if (this.#idleMs >= idleMs) return this.#expire(`sent nothing for ${idleMs / 1000} seconds`);
    if (this.#window.ms < slowMs) return;
    if (this.#window.bytes < (minBytesPerSecond * this.#window.ms) / 1000) return this.#expire('sends too slowly');
    this.#window = { ms: 0, bytes: 0 };
  }

  #expire(words: string): void {
    this.stop();
    this.expire(new DownloadError('retryable', `${this.host} ${words}.`));
  }
}
