/** The share of the patience that a batch is expected to take at most: however slow batches are, the newest entries are tried. */
const LONGEST_EXPECTED = 0.75;

/** After each batch that was quicker than expected, so much of the expectation is left. */
const EXPECTATION_KEPT = 0.75;

/** A batch that took a larger share of the patience was slow: the next are made small enough to take half of that share. */
const SLOW = 0.3;
/** After one that took a smaller share the next may be larger. */
const QUICK = 0.1;
const SMALLEST_SHARE = 1 / 64;

/** What batches are cut to after one that took longer than any is expected to: it was cut off, and nobody knows how slow it really was. */
const CUT_OFF = 1 / 16;

/** How fast batches go at present, and how large the next may therefore be. */
export class BatchPace {
  #expected = 0;
  #share = 1;

  /** `patience` of a caller, in milliseconds. */
  constructor(private readonly patience: number) {}

  /** How long a batch takes, in milliseconds: a slow one counts at once, quicker ones little by little. */
  get expected(): number {
    return this.#expected;
  }

  /** Of a full batch what is taken at once: a database that is slow is given less, so that someone is answered in time. */
  get share(): number {
    return this.#share;
  }

  /**
   * `share` is what the batch had: two that ran side by side and were too large tell it once. It falls by as much as the
   * batch was too slow: halving alone would let a database that is suddenly slow answer nobody for several patiences.
   */
  learn(tookMs: number, share: number): void {
    const longest = this.patience * LONGEST_EXPECTED;
    const slow = this.patience * SLOW;
    this.#expected = Math.min(Math.max(tookMs, this.#expected * EXPECTATION_KEPT), longest);
    if (tookMs > slow) {
      const less = tookMs > longest ? CUT_OFF : slow / tookMs / 2;
      this.#share = Math.max(Math.min(this.#share, share * less), SMALLEST_SHARE);
    } else if (tookMs < this.patience * QUICK) {
      this.#share = Math.min(this.#share * 2, 1);
    }
  }
}
