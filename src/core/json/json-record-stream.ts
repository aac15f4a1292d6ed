import { isUtf8 } from 'node:buffer';
import { MAX_RECORD_BYTES } from '../../contracts/common/answer-limits.js';
import { withoutByteOrderMark } from '../../contracts/common/json.js';

// JSON consists of ASCII characters outside of texts, so that bytes of UTF-8 can be compared with these codes.
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** `[` and `{` differ only in this bit, and so do `]` and `}`. */
const SHAPE = 0x20;

/** The message of an error for bytes that are not UTF-8. */
export const NOT_UTF8 = 'is not UTF-8';

/** The document is not JSON (`notJson`), or it breaks a limit or repeats a list (`breach`). The message ends a sentence. */
export class JsonStreamError extends Error {
  constructor(
    readonly kind: 'notJson' | 'breach',
    readonly path: string,
    message: string,
  ) {
    super(message);
    this.name = 'JsonStreamError';
  }
}

/** One element of a named list. */
export interface JsonRecord {
  /** `data.materials` */
  readonly list: string;
  readonly index: number;
  /** The element as the document has it; undefined if it is larger than `MAX_RECORD_BYTES`. */
  readonly text: string | undefined;
}

/**
 * Reads the elements of named lists (`data.materials`) out of a JSON document of any size, in constant memory.
 * The envelope is the document with these lists empty. The document is valid JSON if the envelope and the text of every
 * element are valid JSON, so the caller must parse all of them, and must undo its work if one is not.
 *
 * A general streaming parser takes 3 to 5 times as long, and the known ones do not limit the size of a value (ADR 7).
 */
export class JsonRecordStream {
  private readonly lists: ReadonlySet<string>;
  private readonly parents: ReadonlySet<string>;
  /** Lists and their parents that have occurred. */
  private readonly seen = new Set<string>();
  private envelopeParts: Buffer[] = [];
  private envelopeBytes = 0;
  private list: ListReader | undefined;
  /** For each open array and object outside of lists the prefix of its members' paths; undefined if none leads to a list. */
  private readonly prefixes: (string | undefined)[] = [];
  private inText = false;
  private isEscaped = false;
  /** Whether the next text is the name of a member that may lead to a list. */
  private isNameNext = false;
  /** Bytes of such a name that is being read. */
  private nameParts: Buffer[] | undefined;
  private lastName = '';
  /** Path of the member whose value comes next, if it is a list or leads to one. */
  private memberPath: string | undefined;

  constructor(lists: readonly string[]) {
    this.lists = new Set(lists);
    this.parents = new Set(lists.flatMap(parentsOf));
  }

  /** The records of the source in their order. Throws `JsonStreamError`. */
  async *batches(source: AsyncIterable<Buffer>): AsyncGenerator<JsonRecord[]> {
    for await (const chunk of source) {
      const records = this.write(chunk);
      if (records.length > 0) yield records;
    }
    if (this.list !== undefined) throw notJson();
  }

  /** The document without its records, once all of it was read. */
  envelope(): string {
    const bytes = Buffer.concat(this.envelopeParts);
    if (!isUtf8(bytes)) throw notUtf8();
    return withoutByteOrderMark(bytes.toString('utf8'));
  }

  private write(chunk: Buffer): JsonRecord[] {
    const records: JsonRecord[] = [];
    let at = 0;
    while (at < chunk.length) {
      at = this.list === undefined ? this.readEnvelope(chunk, at) : this.readList(this.list, chunk, at, records);
    }
    return records;
  }

  private readList(list: ListReader, chunk: Buffer, from: number, records: JsonRecord[]): number {
    const end = list.read(chunk, from, records);
    if (list.isClosed) {
      this.list = undefined;
      this.keep(EMPTY_LIST);
    }
    return end;
  }

  /** Reads up to the first element of a list, or to the end of the chunk. Returns where it stopped. */
  private readEnvelope(chunk: Buffer, from: number): number {
    let nameFrom = from;
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.inText) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) {
          this.inText = false;
          if (this.nameParts !== undefined) this.endName(chunk.subarray(nameFrom, at + 1));
        }
      } else if (byte === QUOTE) {
        this.inText = true;
        nameFrom = at;
        if (this.isNameNext) this.nameParts = [];
      } else if ((byte | SHAPE) === OPEN_BRACE) {
        if (this.open(byte)) {
          this.keep(chunk.subarray(from, at));
          return at + 1;
        }
      } else if ((byte | SHAPE) === CLOSE_BRACE) this.close();
      else if (byte === COLON) this.endMemberName();
      else if (byte === COMMA) {
        this.isNameNext = this.prefixes.at(-1) !== undefined;
        this.memberPath = undefined;
      }
    }
    if (this.nameParts !== undefined) this.nameParts.push(chunk.subarray(nameFrom));
    this.keep(chunk.subarray(from));
    return chunk.length;
  }

  /** Whether the array that begins here is a list. */
  private open(byte: number): boolean {
    const path = this.memberPath;
    this.memberPath = undefined;
    if (byte === OPEN_BRACKET && path !== undefined && this.lists.has(path)) {
      this.list = new ListReader(path);
      return true;
    }
    const prefix =
      this.prefixes.length === 0 ? '' : path !== undefined && this.parents.has(path) ? `${path}.` : undefined;
    this.isNameNext = byte === OPEN_BRACE && prefix !== undefined;
    this.prefixes.push(this.isNameNext ? prefix : undefined);
    return false;
  }

  private close(): void {
    this.prefixes.pop();
    this.isNameNext = false;
  }

  private endMemberName(): void {
    if (!this.isNameNext) return;
    this.isNameNext = false;
    // `{"data.sites": []}` is not the list `data.sites`.
    if (this.lastName.includes('.')) return;
    const path = `${this.prefixes.at(-1)}${this.lastName}`;
    if (!this.lists.has(path) && !this.parents.has(path)) return;
    // JSON.parse uses the last of two members, but the records of both would have been returned.
    if (this.seen.has(path)) throw new JsonStreamError('breach', path, 'occurs twice');
    this.seen.add(path);
    this.memberPath = path;
  }

  private endName(last: Buffer): void {
    const text = Buffer.concat([...(this.nameParts ?? []), last]).toString('utf8');
    this.nameParts = undefined;
    try {
      this.lastName = JSON.parse(text) as string;
    } catch {
      throw notJson();
    }
  }

  private keep(bytes: Buffer): void {
    this.envelopeParts.push(bytes);
    this.envelopeBytes += bytes.length;
    if (this.envelopeBytes > MAX_RECORD_BYTES)
      throw new JsonStreamError('breach', '', 'is too large beside its records');
  }
}

/** Splits the text of one list into its elements. */
class ListReader {
  isClosed = false;
  private index = 0;
  private depth = 0;
  private inText = false;
  private isEscaped = false;
  private parts: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly path: string) {}

  /** Appends the elements that end in this chunk. Returns where the list ends in it, or its length. */
  read(chunk: Buffer, from: number, records: JsonRecord[]): number {
    let start = from;
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.inText) {
        if (this.isEscaped) this.isEscaped = false;
        else if (byte === BACKSLASH) this.isEscaped = true;
        else if (byte === QUOTE) this.inText = false;
      } else if (byte === QUOTE) this.inText = true;
      else if ((byte | SHAPE) === OPEN_BRACE) this.depth++;
      else if ((byte | SHAPE) === CLOSE_BRACE) {
        if (this.depth-- > 0) continue;
        if (byte !== CLOSE_BRACKET) throw notJson();
        this.isClosed = true;
        this.end(chunk.subarray(start, at), records);
        return at + 1;
      } else if (byte === COMMA && this.depth === 0) {
        this.end(chunk.subarray(start, at), records);
        start = at + 1;
      }
    }
    this.keep(chunk.subarray(start));
    return chunk.length;
  }

  private keep(bytes: Buffer): void {
    this.bytes += bytes.length;
    if (this.bytes > MAX_RECORD_BYTES) this.parts = [];
    else this.parts.push(bytes);
  }

  private end(last: Buffer, records: JsonRecord[]): void {
    const text = this.textWith(last);
    const isEmptyList = this.isClosed && this.index === 0 && text?.trim() === '';
    if (!isEmptyList) records.push({ list: this.path, index: this.index++, text });
    this.parts = [];
    this.bytes = 0;
  }

  private textWith(last: Buffer): string | undefined {
    if (this.bytes + last.length > MAX_RECORD_BYTES) return undefined;
    const bytes = this.parts.length === 0 ? last : Buffer.concat([...this.parts, last]);
    const text = bytes.toString('utf8');
    // A replacement character may be in the document, or stand for bytes that are not UTF-8.
    if (text.includes('\ufffd') && !isUtf8(bytes)) throw notUtf8();
    return text;
  }
}

const EMPTY_LIST = Buffer.from('[]');

/** `a` and `a.b` of `a.b.c`. */
const parentsOf = (path: string): string[] => {
  const names = path.split('.');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join('.'));
};

const notJson = () => new JsonStreamError('notJson', '', 'is not valid JSON');
const notUtf8 = () => new JsonStreamError('notJson', '', NOT_UTF8);
