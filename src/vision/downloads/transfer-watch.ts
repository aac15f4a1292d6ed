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

/**
 * Watches the progress of a transfer at intervals. It reports that the transfer begins or ends to wait for its host: for
 * the connection, for the first byte, for more bytes, or because bytes only trickle. A body that makes no progress at all
 * is ended. Intervals in which the transfer waited for the storage do not count, because that is not the host's fault.
 */
export class TransferWatch {
  #received = 0;
  #waitsForHost = true;
  #isStalled = false;
  #hasBegun = false;
  /** How long bytes have only trickled, and how long none has come. */
  #trickledMs = 0;
  #idleMs = 0;
  #window = { ms: 0, bytes: 0 };
  #body: { readonly host: string; readonly expire: (error: DownloadError) => void } | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #intervalMs: number;

  /** Begins to wait for the host. */
  constructor(
    private readonly limits: TransferLimits,
    private readonly onStalled: (isStalled: boolean) => void,
  ) {
    this.#intervalMs = Math.min(MAX_INTERVAL_MS, limits.firstByteMs / 10, limits.idleMs / 10, limits.slowMs / 10);
    this.#timer = setInterval(() => this.#check(), this.#intervalMs);
  }

  /** The head of the response came: from now on the limits hold, and `expire` ends the transfer. */
  expectBody(host: string, expire: (error: DownloadError) => void): void {
    this.#body = { host, expire };
    this.#hasBegun = false;
    this.#idleMs = 0;
    this.#window = { ms: 0, bytes: 0 };
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
    this.#report(false);
  }

  #check(): void {
    const bytes = this.#received;
    const ms = this.#intervalMs;
    this.#received = 0;
    const trickles = this.#waitsForHost && bytes < (STALLED_BYTES_PER_SECOND * ms) / 1_000;
    this.#trickledMs = trickles ? this.#trickledMs + ms : 0;
    this.#report(this.#trickledMs >= STALLED_MS);
    if (this.#body === undefined || (bytes === 0 && !this.#waitsForHost)) return;
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

  #report(isStalled: boolean): void {
    if (isStalled === this.#isStalled) return;
    this.#isStalled = isStalled;
    this.onStalled(isStalled);
  }

  #expire(words: string): void {
    this.stop();
    this.#body?.expire(new DownloadError('retryable', `${this.#body.host} ${words}.`));
  }
}
