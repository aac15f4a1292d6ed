import type { Violation } from '../contracts/common/violation.js';

/** Records of a list are parsed together up to about so many bytes. */
const BATCH_BYTES = 65_536;
/** More than any record or envelope of the contracts has; both would have to be parsed at one go. */
export const MAX_PIECE_BYTES = 1_048_576;

/** Instead of what would be wrong with a record that is too large to be parsed. */
export const tooLarge = (path: string): Violation => ({
  path,
  rule: 'maxSize',
  message: `${path} must not be larger than 1 MiB`,
});

/** Some records of one list, as they lie in the bytes. */
export interface Piece {
  /** The list's path, `data.materials`. */
  readonly list: string;
  /** Index of the first record. */
  readonly first: number;
  readonly count: number;
  readonly start: number;
  readonly end: number;
  /** One record alone that is too large to be parsed. */
  readonly oversized: boolean;
  /** One of the records at least is nested deeper than anything may be. */
  readonly deep: boolean;
}

/** Gathers records until they make a piece. A record that is too large stands alone. */
export class RecordCutter {
  private start: number;
  private first = 0;
  private count = 0;
  private isDeep = false;

  constructor(
    private readonly list: string,
    private recordStart: number,
    private readonly pieces: Piece[],
  ) {
    this.start = recordStart;
  }

  /** The record at hand is nested deeper than anything may be. */
  deep(): void {
    this.isDeep = true;
  }

  comma(at: number): void {
    this.record(at);
    this.recordStart = at + 1;
    if (at - this.start >= BATCH_BYTES) this.cut(at);
  }

  end(at: number): void {
    this.record(at);
    this.cut(at);
  }

  private record(end: number): void {
    if (end - this.recordStart > MAX_PIECE_BYTES) {
      if (this.count > 0) this.cut(this.recordStart - 1);
      this.count = 1;
      this.cut(end, true);
    } else {
      this.count++;
    }
  }

  private cut(end: number, oversized = false): void {
    if (this.count === 0) return;
    const { list, first, count, start, isDeep: deep } = this;
    this.pieces.push({ list, first, count, start, end, oversized, deep });
    this.isDeep = false;
    this.first += count;
    this.count = 0;
    this.start = end + 1;
  }
}
