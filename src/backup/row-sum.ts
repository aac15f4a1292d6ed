import { hash } from 'node:crypto';

const NEWLINE = 0x0a;
const LANES = 8;

/**
 * Counts and sums the rows of a table in the text format of COPY, in which each row is one line. The sum does not depend on the order of
 * the rows, which a restored table does not keep: the SHA-256 of each line, read as eight numbers of 32 bits, is added to eight sums.
 */
export class RowSum {
  rows = 0;
  private readonly lanes = new Uint32Array(LANES);
  /** The beginning of a line whose end has not come yet. */
  private rest: Buffer[] = [];

  update(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.add(chunk.subarray(start, end));
      start = end + 1;
    }
    // A copy: the chunk may be large.
    if (start < chunk.length) this.rest.push(Buffer.from(chunk.subarray(start)));
  }

  /** In hex. */
  digest(): string {
    return [...this.lanes].map((lane) => lane.toString(16).padStart(8, '0')).join('');
  }

  private add(end: Buffer): void {
    const line = this.rest.length === 0 ? end : Buffer.concat([...this.rest, end]);
    if (this.rest.length > 0) this.rest = [];
    const sum = hash('sha256', line, 'buffer');
    for (let lane = 0; lane < LANES; lane++)
      this.lanes[lane] = (this.lanes[lane] as number) + sum.readUInt32BE(4 * lane);
    this.rows += 1;
  }
}
