/** Where gathered lines go: pino's destination. */
interface Output {
  write(text: string): unknown;
  flushSync(): void;
}

/**
 * Log lines on their way out, handed over in pieces of at most `pieceBytes` (a longer line goes alone), so that a busy
 * service pays for one write in many. The destination gathers too, but measures all that it holds anew with every line:
 * with pieces of 64 KiB that was a third of all memory a request took.
 */
export class LineGatherer {
  private lines: string[] = [];
  private bytes = 0;

  constructor(
    private readonly output: Output,
    private readonly pieceBytes: number,
  ) {}

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.bytes + bytes > this.pieceBytes) this.handOver();
    this.lines.push(line);
    this.bytes += bytes;
  }

  /** What was gathered is on its way; called now and then, so that no line waits for long. */
  handOver(): void {
    if (this.lines.length === 0) return;
    this.output.write(this.lines.join(''));
    this.lines = [];
    this.bytes = 0;
  }

  /** What was gathered has been written; pino calls it for a fatal line. */
  flushSync(): void {
    this.handOver();
    this.output.flushSync();
  }
}
