import { redactUrls } from '../outbound/redaction.js';
import { NotAFilm } from './storage-errors.js';

/** Four bytes of length and four of name; a length of 1 says that the true one follows, in eight bytes. */
const HEAD_BYTES = 8;
const LONG_HEAD_BYTES = 16;
/** The least that an `ftyp` box holds: head, major brand, its version. */
const LEAST_FTYP_BYTES = 16;
/** What is told of bytes that are no film, in characters. */
const SHOWN = 40;
const LOOKED_AT = 200;

/**
 * Walks the boxes of an MP4 file (ISO/IEC 14496-12, section 4.2) while its bytes go by, from head to head, and holds
 * nothing of what is in them: `ftyp` comes first, there is a `moov`, and the last box ends with the file. So it is with
 * fragmented films too, whose `moof` boxes follow.
 */
export class BoxWalk {
  /** Bytes seen. */
  #at = 0;
  /** Where the next box begins; `Infinity` after one that says it goes on to the end. */
  #next = 0;
  /** What was seen of the next box's head. */
  #head = Buffer.alloc(0);
  #last = '';
  #moov = false;

  /** Continues a walk from the `state` of an earlier one. */
  constructor(state?: string) {
    if (state === undefined) return;
    const [at, next, moov, last = '', head = ''] = state.split(' ');
    [this.#at, this.#next, this.#moov] = [Number(at), Number(next), moov === 'true'];
    [this.#last, this.#head] = [Buffer.from(last, 'hex').toString('latin1'), Buffer.from(head, 'hex')];
  }

  /** All that a later walk has to know to go on behind the bytes seen so far. */
  get state(): string {
    const name = Buffer.from(this.#last, 'latin1').toString('hex');
    return [this.#at, this.#next, this.#moov, name, this.#head.toString('hex')].join(' ');
  }

  /** The bytes behind those seen so far. Throws `NotAFilm`. */
  update(bytes: Buffer): void {
    const end = this.#at + bytes.length;
    while (this.#next < end) {
      const from = this.#next + this.#head.length - this.#at;
      const missing = this.#headBytes() - this.#head.length;
      this.#head = Buffer.concat([this.#head, bytes.subarray(from, from + missing)]);
      if (this.#head.length === this.#headBytes()) this.#enter(bytes);
      else if (this.#next + this.#head.length === end) break;
    }
    this.#at = end;
  }

  /** There are no more bytes. Throws `NotAFilm` where they were not a whole film. */
  end(): void {
    if (this.#at < HEAD_BYTES) throw new NotAFilm(`it is ${shown(this.#head)}`);
    if (this.#head.length > 0) throw new NotAFilm('it ends within the head of a box');
    if (this.#next > this.#at && this.#next !== Infinity)
      throw new NotAFilm(`its ${this.#last} box ends ${this.#next - this.#at} bytes behind the end of the file`);
    if (!this.#moov) throw new NotAFilm('it has no moov box');
  }

  #headBytes(): number {
    return this.#head.length >= HEAD_BYTES && this.#head.readUInt32BE() === 1 ? LONG_HEAD_BYTES : HEAD_BYTES;
  }

  #enter(seen: Buffer): void {
    const name = this.#head.toString('latin1', 4, HEAD_BYTES);
    const size = sizeOf(this.#head);
    if (this.#next === 0 && (name !== 'ftyp' || size < LEAST_FTYP_BYTES))
      throw new NotAFilm(`it begins with ${shown(this.#at === 0 ? seen : this.#head)} instead of an ftyp box`);
    if (size < this.#head.length || !/^[\x20-\x7e\xa9]{4}$/.test(name))
      throw new NotAFilm(`at byte ${this.#next}, after its ${this.#last} box, there is no box`);
    this.#moov ||= name === 'moov';
    this.#last = name;
    this.#next += size;
    this.#head = Buffer.alloc(0);
  }
}

function sizeOf(head: Buffer): number {
  const size = head.readUInt32BE();
  if (size === 0) return Infinity;
  return size === 1 ? Number(head.readBigUInt64BE(HEAD_BYTES)) : size;
}

/** For a sentence; anything may stand there, and nobody may be led astray by it. */
function shown(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, LOOKED_AT);
  return JSON.stringify(redactUrls(text.replace(/[^\x20-\x7e]/g, '.')).slice(0, SHOWN));
}
