import { beginsAsMp4, MP4_HEAD_BYTES as HEADER_BYTES, TOP_LEVEL_TYPES } from './mp4-start.js';

/** The bytes are not a whole MP4 file. `message` continues a sentence whose subject is the file. */
export class InvalidMp4Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidMp4Error';
  }
}

const LONG_HEADER_BYTES = 16;
/** Characters of an invalid file that a message shows, and the bytes that are cleaned before. */
const SHOWN_CHARACTERS = 40;
const SHOWN_FROM_BYTES = 200;

/**
 * Checks the boxes of an MP4 file (ISO/IEC 14496-12, section 4.2) while its bytes pass, and keeps none of their contents:
 * it begins with a box of an MP4, there are a `moov` and an `mdat`, and the last box ends with the file. Fragmented files are valid too.
 * Bytes after the last box of a whole file are counted, because players ignore them.
 */
export class Mp4BoxValidator {
  /** Bytes seen. */
  #at = 0;
  /** Where the next box begins; `Infinity` if the last one continues to the end. */
  #next = 0;
  /** The part of the next box's header that was seen. */
  #header = Buffer.alloc(0);
  #last = { type: '', start: 0 };
  #hasMoov = false;
  #hasMedia = false;
  #trailingFrom: number | undefined;

  /** `clean` removes what a message must not show, such as the query of a signed URL, from the first bytes of an invalid file. */
  constructor(private readonly clean: (text: string) => string = (text) => text) {}

  /** Throws `InvalidMp4Error`. */
  update(bytes: Buffer): void {
    const end = this.#at + bytes.length;
    while (this.#next < end) {
      const from = this.#next + this.#header.length - this.#at;
      const missing = this.#headerBytes() - this.#header.length;
      this.#header = Buffer.concat([this.#header, bytes.subarray(from, from + missing)]);
      if (this.#header.length === this.#headerBytes()) this.#enterBox(bytes);
      else if (this.#next + this.#header.length === end) break;
    }
    this.#at = end;
  }

  /**
   * To be called after the last byte. Returns the number of bytes after the last box. Throws `InvalidMp4Error`. `mayBeCut`: the bytes
   * ended with their connection (RFC 9112, section 6.3), so only the sizes of the boxes show that none is missing.
   */
  end(mayBeCut = false): number {
    const trailing = this.#trailingBytes();
    // Bytes that are no box follow a whole file; the begin of a box, or one without a size, may be the rest of a longer one.
    const hasEnd = trailing === 0 && this.#next !== Infinity && this.#last.type !== 'moof';
    const isCertain = this.#trailingFrom !== undefined || hasEnd;
    if (mayBeCut && !isCertain)
      throw new InvalidMp4Error('it ended with its connection, within a box or after one without a size');
    return trailing;
  }

  #trailingBytes(): number {
    if (this.#trailingFrom !== undefined) return this.#at - this.#trailingFrom;
    if (this.#at < HEADER_BYTES) throw new InvalidMp4Error(`it is ${this.#shown(this.#header)}`);
    if (this.#header.length > 0) {
      if (this.#isWhole) return this.#header.length;
      throw new InvalidMp4Error('it ends within the header of a box');
    }
    if (this.#next > this.#at && this.#next !== Infinity) {
      const { type, start } = this.#last;
      // A last box of an unknown type may be bytes that do not belong to the file.
      if (this.#isWhole && !TOP_LEVEL_TYPES.has(type)) return this.#at - start;
      throw new InvalidMp4Error(`its ${type} box ends ${this.#next - this.#at} bytes after the end of the file`);
    }
    if (!this.#hasMoov) throw new InvalidMp4Error('it has no moov box');
    if (!this.#hasMedia) throw new InvalidMp4Error('it has no mdat box');
    return 0;
  }

  /** Whether the boxes so far can be played. */
  get #isWhole(): boolean {
    return this.#hasMoov && this.#hasMedia;
  }

  /** The first bytes, for a message. */
  #shown(bytes: Buffer): string {
    const text = bytes.toString('latin1', 0, SHOWN_FROM_BYTES).replace(/[^\x20-\x7e]/g, '.');
    return JSON.stringify(this.clean(text).slice(0, SHOWN_CHARACTERS));
  }

  #headerBytes(): number {
    return this.#header.length >= HEADER_BYTES && this.#header.readUInt32BE() === 1 ? LONG_HEADER_BYTES : HEADER_BYTES;
  }

  #enterBox(seen: Buffer): void {
    const type = this.#header.toString('latin1', 4, HEADER_BYTES);
    const size = sizeOf(this.#header);
    if (this.#next === 0 && !beginsAsMp4(this.#header))
      throw new InvalidMp4Error(
        `it begins with ${this.#shown(this.#at === 0 ? seen : this.#header)} instead of an ftyp box`,
      );
    if (size < this.#header.length || !/^[\x20-\x7e\xa9]{4}$/.test(type)) {
      if (!this.#isWhole)
        throw new InvalidMp4Error(`it has no box at byte ${this.#next}, after its ${this.#last.type} box`);
      this.#trailingFrom = this.#next;
      this.#next = Infinity;
      return;
    }
    this.#hasMoov ||= type === 'moov';
    this.#hasMedia ||= type === 'mdat';
    this.#last = { type, start: this.#next };
    this.#next += size;
    this.#header = Buffer.alloc(0);
  }
}

function sizeOf(header: Buffer): number {
  const size = header.readUInt32BE();
  if (size === 0) return Infinity;
  return size === 1 ? Number(header.readBigUInt64BE(HEADER_BYTES)) : size;
}
