import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Published } from '../../core/storage/draft.js';

interface EntryOptions {
  readonly mtime: Date;
  /** Video is compressed already. */
  readonly compress: boolean;
}

/**
 * A ZIP archive that is sent while it is written, one entry after the other, with ZIP64 where it is needed. Nothing is read
 * faster than the archive is received.
 */
export class ZipArchive {
  private readonly zip = new ZipFile();

  /** `signal` ends the entry that is being read. */
  constructor(private readonly signal: AbortSignal) {}

  get output(): Readable {
    return this.zip.outputStream as Readable;
  }

  /** Returns the size and the SHA-256 of what was written. Rejects if the source fails: the archive has no end then. */
  async add(name: string, source: Readable, options: EntryOptions): Promise<Published> {
    const hash = createHash('sha256');
    let size = 0;
    const meter = new Transform({
      transform(chunk: Buffer, _encoding, callback) {
        hash.update(chunk);
        size += chunk.length;
        callback(null, chunk);
      },
    });
    this.zip.addReadStream(meter, name, options);
    await pipeline(source, meter, { signal: this.signal });
    return { size, sha256: hash.digest('hex') };
  }

  addText(name: string, texts: Iterable<string> | AsyncIterable<string>, mtime: Date): Promise<Published> {
    return this.add(name, Readable.from(texts, { objectMode: false }), { mtime, compress: true });
  }

  end(): void {
    this.zip.end();
  }
}
