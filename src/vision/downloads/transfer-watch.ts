import { DownloadError } from './download-error.js';

export interface TransferLimits {
  /**
   * `VISION_FIRST_BYTE_TIMEOUT`: from the connection to the head of the response, and from there to the first byte. A camera
   * that wakes up may need a minute or two.
   */
  readonly firstByteMs: number;
  /** The longest time without a byte after that. */
  readonly idleMs: number;
  /** Fewer bytes per second than this, on average over `slowMs`, are too slow. */
  readonly minBytesPerSecond: number;
  readonly slowMs: number;
}

const MAX_INTERVAL_MS = 500;

/** A transfer that is slower than this for `STALLED_MS` waits for its host. */
const STALLED_BYTES_PER_SECOND = 16 * 1024;
const STALLED_MS = 3_000;

export interface TransferEvents {
  /** The transfer waits for its host: no bytes come, or they only trickle. Repeated while that is so. */
  readonly onStalled: () => void;
  /** The transfer made no progress for too long, and must end. */
  readonly onExpired: (error: DownloadError) => void;
}

/**
 * Watches the progress of a body at intervals, from the head of its response on. Intervals in which the transfer waited for
 * this service do not count, because that is not the host's fault.
 */
export class TransferWatch {
  #received = 0;
  #waitsForHost = true;
  #hasBegun = false;
  /** How long bytes have only trickled, and how long none has come. */
  #trickledMs = 0;
  #idleMs = 0;
  #window = { ms: 0, bytes: 0 };
  readonly #timer: NodeJS.Timeout;
  readonly #intervalMs: number;

  constructor(
    private readonly host: string,
    private readonly limits: TransferLimits,
    private readonly events: TransferEvents,
  ) {
    this.#intervalMs = Math.min(MAX_INTERVAL_MS, limits.firstByteMs / 10, limits.idleMs / 10, limits.slowMs / 10);
    this.#timer = setInterval(() => this.#check(), this.#intervalMs);
  }

  /** Bytes arrived. The transfer stores them until it calls `waitForHost`. */
  received(bytes: number): void {
    this.#received += bytes;
    this.#waitsForHost = false;
  }

  waitForHost(): void {
    this.#waitsForHost = true;
  }

  /** No byte is missing, or the transfer failed. */
  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const bytes = this.#received;
    const ms = this.#intervalMs;
    this.#received = 0;
    const trickles = this.#waitsForHost && bytes < (STALLED_BYTES_PER_SECOND * ms) / 1_000;
    this.#trickledMs = trickles ? this.#trickledMs + ms : 0;
    if (this.#trickledMs >= STALLED_MS) this.events.onStalled();
    if (bytes === 0 && !this.#waitsForHost) return;
    this.#idleMs = bytes > 0 ? 0 : this.#idleMs + ms;
    this.#window.ms += ms;
    this.#window.bytes += bytes;
    const { firstByteMs, idleMs, slowMs, minBytesPerSecond } = this.limits;
    if (!this.#hasBegun && bytes === 0) {
      this.#window = { ms: 0, bytes: 0 };
      if (this.#idleMs >= firstByteMs) this.#expire(`sent no byte of the file for ${firstByteMs / 1_000} seconds`);
      return;
    }
    this.#hasBegun = true;
    if (this.#idleMs >= idleMs) return this.#expire(`sent nothing for ${idleMs / 1_000} seconds`);
    if (this.#window.ms < slowMs) return;
    if (this.#window.bytes < (minBytesPerSecond * this.#window.ms) / 1_000) return this.#expire('sends too slowly');
    this.#window = { ms: 0, bytes: 0 };
  }

  #expire(words: string): void {
    this.stop();
    this.events.onExpired(new DownloadError('retryable', `${this.host} ${words}.`));
  }
}
