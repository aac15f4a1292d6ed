import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SHAPE,
} from '../contracts/common/json-codes.js';
import { MAX_JSON_DEPTH, withoutByteOrderMark } from '../contracts/common/json.js';
import { JsonSplitFault, notJson } from './json-split-fault.js';
import { MAX_PIECE_BYTES, type Piece, RecordCutter } from './record-cutter.js';

/** Bytes that are looked through, or parsed, before the event loop gets its turn: well under a millisecond of work. */
const SLICE_BYTES = 262_144;
/** What a member costs beside its bytes, as bytes that are looked through. */
const MEMBER_COST = 64;

const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** What `splitJson` finds in a document. The generators yield where the event loop may have its turn. */
export class JsonScanner {
  readonly pieces: Piece[] = [];
  private at = 0;
  /** The offset at which the event loop gets its turn; each member of an object brings it `MEMBER_COST` nearer. */
  private due = SLICE_BYTES;
  /** The offset behind which the envelope is too large; each list moves it on by its own length. */
  private limit = MAX_PIECE_BYTES;
  private readonly cuts: { readonly start: number; readonly end: number }[] = [];
  private readonly parents: ReadonlySet<string>;
  private readonly seen = new Set<string>();

  constructor(
    private readonly bytes: Buffer,
    private readonly lists: ReadonlySet<string>,
  ) {
    this.parents = new Set([...lists].flatMap(parentsOf));
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.at = 3;
  }

  *document(): Generator<void> {
    this.blanks();
    if (this.bytes[this.at] === OPEN_BRACE) yield* this.object('');
    else yield* this.value();
    this.blanks();
    if (this.at < this.bytes.length) throw notJson();
    this.withinLimit();
  }

  envelope(): string {
    const kept: string[] = [];
    let from = 0;
    for (const cut of [...this.cuts, { start: this.bytes.length, end: this.bytes.length }]) {
      kept.push(this.bytes.toString('utf8', from, cut.start));
      from = cut.end;
    }
    return withoutByteOrderMark(kept.join('[]'));
  }

  /** An object on the way to a list. */
  private *object(path: string): Generator<void> {
    this.at++;
    this.blanks();
    if (this.bytes[this.at] === CLOSE_BRACE) {
      this.at++;
      return;
    }
    for (;;) {
      this.blanks();
      const name = yield* this.name();
      this.blanks();
      if (this.bytes[this.at++] !== COLON) throw notJson();
      this.blanks();
      // `{"data.sites": []}` is not `data.sites`.
      if (name.includes('.')) yield* this.value();
      else yield* this.member(path === '' ? name : `${path}.${name}`);
      this.blanks();
      const next = this.bytes[this.at++];
      if (next === CLOSE_BRACE) return;
      if (next !== COMMA) throw notJson();
      this.withinLimit();
      this.due -= MEMBER_COST;
      if (this.at < this.due) continue;
      yield;
      this.due = this.at + SLICE_BYTES;
    }
  }

  private *member(path: string): Generator<void> {
    const byte = this.bytes[this.at];
    const leadsOn = this.parents.has(path);
    if (leadsOn || this.lists.has(path)) {
      // JSON.parse would take the last one, and the records of all of them had been found.
      if (this.seen.has(path)) throw new JsonSplitFault('breach', path, 'occurs twice');
      this.seen.add(path);
    }
    if (byte === OPEN_BRACKET && this.lists.has(path)) {
      const start = this.at;
      yield* this.list(path);
      this.cuts.push({ start, end: this.at });
      this.limit += this.at - start;
    } else if (byte === OPEN_BRACE && leadsOn) {
      yield* this.object(path);
    } else {
      yield* this.value();
    }
  }

  private *name(): Generator<void, string> {
    const start = this.at;
    if (this.bytes[start] !== QUOTE) throw notJson();
    yield* this.value();
    const text = this.bytes.toString('utf8', start, this.at);
    // Whatever else may be wrong with it is found when the envelope is parsed.
    if (!text.includes('\\')) return text.slice(1, -1);
    try {
      return JSON.parse(text) as string;
    } catch {
      throw notJson();
    }
  }

  /** Any value, jumped over; what it is made of is checked when it is parsed. */
  private *value(): Generator<void> {
    const { bytes } = this;
    const first = bytes[this.at];
    if (first !== QUOTE && (first === undefined || (first | SHAPE) !== OPEN_BRACE)) {
      this.scalar();
      return;
    }
    let depth = 0;
    let inText = false;
    for (;;) {
      const end = Math.min(this.at + SLICE_BYTES, bytes.length);
      let i = this.at;
      for (; i < end; i++) {
        const byte = bytes[i] as number;
        if (inText) {
          if (byte === BACKSLASH) i++;
          else if (byte === QUOTE) inText = false;
          else continue;
          if (inText || depth > 0) continue;
        } else if (byte === QUOTE) {
          inText = true;
          continue;
        } else if ((byte | SHAPE) === OPEN_BRACE) {
          if (++depth > MAX_JSON_DEPTH) throw tooDeep();
          continue;
        } else if ((byte | SHAPE) !== CLOSE_BRACE || --depth > 0) {
          continue;
        }
        this.at = i + 1;
        return;
      }
      this.at = i;
      if (this.at >= bytes.length) throw notJson();
      this.withinLimit();
      yield;
    }
  }

  private scalar(): void {
    const start = this.at;
    for (let byte = this.bytes[this.at]; byte !== undefined; byte = this.bytes[this.at]) {
      if (byte === COMMA || (byte | SHAPE) === CLOSE_BRACE || isBlank(byte)) break;
      if (++this.at - start > MAX_PIECE_BYTES) throw notJson();
    }
    if (this.at === start) throw notJson();
  }

  /** A list of records, cut at commas into pieces of some size. */
  private *list(path: string): Generator<void> {
    const { bytes } = this;
    this.at++;
    yield* this.gap();
    if (bytes[this.at] === CLOSE_BRACKET) {
      this.at++;
      return;
    }
    const cutter = new RecordCutter(path, this.at, this.pieces);
    let depth = 0;
    let inText = false;
    for (;;) {
      const end = Math.min(this.at + SLICE_BYTES, bytes.length);
      let i = this.at;
      for (; i < end; i++) {
        const byte = bytes[i] as number;
        if (inText) {
          if (byte === BACKSLASH) i++;
          else if (byte === QUOTE) inText = false;
        } else if (byte === QUOTE) {
          inText = true;
        } else if ((byte | SHAPE) === OPEN_BRACE) {
          if (++depth > MAX_JSON_DEPTH) cutter.deep();
        } else if ((byte | SHAPE) === CLOSE_BRACE) {
          if (depth-- > 0) continue;
          if (byte !== CLOSE_BRACKET) throw notJson();
          cutter.end(i);
          this.at = i + 1;
          return;
        } else if (byte === COMMA && depth === 0) {
          cutter.comma(i);
        }
      }
      this.at = i;
      if (this.at >= bytes.length) throw notJson();
      yield;
    }
  }

  /** Blanks within a list, of which there may be any number. */
  private *gap(): Generator<void> {
    for (;;) {
      const end = this.at + SLICE_BYTES;
      let i = this.at;
      while (i < end && isBlank(this.bytes[i])) i++;
      this.at = i;
      if (i < end) return;
      yield;
    }
  }

  /** Outside of lists, where `limit` keeps them so few that the event loop can wait. */
  private blanks(): void {
    let i = this.at;
    while (i <= this.limit && isBlank(this.bytes[i])) i++;
    this.at = i;
    this.withinLimit();
  }

  private withinLimit(): void {
    if (this.at > this.limit) throw new JsonSplitFault('breach', '', 'is too large beside its records');
  }
}

/** `a` and `a.b` of `a.b.c`. */
const parentsOf = (path: string): string[] => {
  const names = path.split('.');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join('.'));
};

const tooDeep = () => new JsonSplitFault('breach', '', `is nested deeper than ${MAX_JSON_DEPTH}`);
