import { DamagedArchiveError } from './backup-error.js';

/** Reads a stream in pieces of the size that the caller asks for. */
export class ByteReader {
  private readonly source: AsyncIterator<Buffer>;
  private chunks: Buffer[] = [];
  private held = 0;
  /** Bytes that were taken. */
  position = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  /** Throws `DamagedArchiveError` if the stream ends before. */
  async take(size: number): Promise<Buffer> {
    while (this.held < size) {
      if (!(await this.pull())) throw new DamagedArchiveError('it ends too early');
    }
    const all = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
    this.chunks = [all.subarray(size)];
    this.held -= size;
    this.position += size;
    return all.subarray(0, size);
  }

  async isAtEnd(): Promise<boolean> {
    while (this.held === 0) {
      if (!(await this.pull())) return true;
    }
    return false;
  }

  /** Ends the stream, also before its end. */
  async close(): Promise<void> {
    await this.source.return?.();
  }

  private async pull(): Promise<boolean> {
    const next = await this.source.next();
    if (next.done === true) return false;
    this.chunks.push(next.value);
    this.held += next.value.length;
    return true;
  }
}
