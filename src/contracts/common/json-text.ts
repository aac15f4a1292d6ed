import { BACKSLASH, CLOSE_BRACE, OPEN_BRACE, QUOTE, SHAPE } from './json-codes.js';
import { JsonFault } from './json-fault.js';
import { isStorableText, joinPath, shortPath, STORABLE_TEXT } from './text.js';
import { type TextFaults, ToldFaults } from './told-faults.js';

/** Deepest nesting of arrays and objects that is read (decision 8). */
export const MAX_JSON_DEPTH = 32;

/** Escapes that can bring what UTF-8 itself cannot carry: U+0000 and lone surrogates. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

const NO_FAULTS: TextFaults = { faults: [], areMore: false };

/** An array or object that has begun, and the index or the name, as it is written, of what is being read in it. */
interface Open {
  readonly isList: boolean;
  at: number | string;
}

/**
 * What decision 8 forbids in a JSON text that is valid: U+0000 and lone surrogates in any value or name, nesting of more
 * than 32, each path once. The text itself is looked at: of two fields of one name a reader would see the last one only,
 * and the first is kept with the raw push all the same. `depth` is where the text stands in a larger document, from 1.
 */
export function forbiddenIn(text: string, depth: number): TextFaults {
  const isSuspicious = SUSPICIOUS_ESCAPE.test(text) || nestsDeeper(text, MAX_JSON_DEPTH - depth + 1);
  return isSuspicious ? new FaultSearch(text, depth).all() : NO_FAULTS;
}

/** Nearly every body ends here, so it is read by the codes of its characters. */
function nestsDeeper(text: string, levels: number): boolean {
  let open = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) i = endOfString(text, i);
    else if ((code | SHAPE) === OPEN_BRACE && ++open > levels) return true;
    else if ((code | SHAPE) === CLOSE_BRACE) open--;
  }
  return false;
}

/** One pass over a text, with what is open where it has come to. */
class FaultSearch {
  private readonly faults = new ToldFaults();
  private readonly open: Open[] = [];
  private isNameNext = false;

  constructor(
    private readonly text: string,
    private readonly depth: number,
  ) {}

  all(): TextFaults {
    for (let i = 0; i < this.text.length && !this.faults.areMore; i++) i = this.read(i);
    return this.faults;
  }

  /** Reads what begins at `start`, and returns where that ends. */
  private read(start: number): number {
    const character = this.text[start];
    if (character === '"') return this.readString(start);
    if (character === '{' || character === '[') return this.begin(start, character === '[');
    if (character === '}' || character === ']') this.end();
    else if (character === ',') this.goOn();
    return start;
  }

  private readString(start: number): number {
    const end = endOfString(this.text, start);
    const written = this.text.slice(start, end + 1);
    const place = this.open.at(-1);
    if (this.isNameNext && place !== undefined) {
      if (!isStorable(written)) this.faults.tell(unstorable(pathOf(this.open.slice(0, -1)), nameIn));
      place.at = written;
      this.isNameNext = false;
    } else if (!isStorable(written)) this.faults.tell(unstorable(pathOf(this.open), valueAt));
    return end;
  }

  private begin(start: number, isList: boolean): number {
    if (this.depth + this.open.length > MAX_JSON_DEPTH) {
      this.faults.tell(tooDeep(pathOf(this.open)));
      return endOfNested(this.text, start);
    }
    this.isNameNext = !isList;
    this.open.push({ isList, at: 0 });
    return start;
  }

  private end(): void {
    this.open.pop();
    this.isNameNext = false;
  }

  private goOn(): void {
    const place = this.open.at(-1);
    if (place === undefined) return;
    if (place.isList) place.at = Number(place.at) + 1;
    else this.isNameNext = true;
  }
}

/** Where the closing quote stands. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 1;
}

/** Where the array or object that begins at `start` ends; nothing in it is looked at. */
function endOfNested(text: string, start: number): number {
  let open = 0;
  for (let i = start; ; i++) {
    const character = text[i];
    if (character === '"') i = endOfString(text, i);
    else if (character === '{' || character === '[') open++;
    else if ((character === '}' || character === ']') && --open === 0) return i;
  }
}

const isStorable = (written: string) => !SUSPICIOUS_ESCAPE.test(written) || isStorableText(nameOf(written));

const nameOf = (written: string) => JSON.parse(written) as string;

const pathOf = (open: readonly Open[]) =>
  shortPath(open.reduce((path, { at }) => joinPath(path, typeof at === 'number' ? at : nameOf(at)), ''));

const tooDeep = (path: string): JsonFault =>
  new JsonFault(path, 'maxDepth', (at) => `${at} must not be nested deeper than ${MAX_JSON_DEPTH}`);

const valueAt = (path: string) => (path === '' ? 'the body' : path);
/** The name itself is what nobody could show. */
const nameIn = (path: string) => (path === '' ? 'the name of a field' : `the name of a field of ${path}`);

function unstorable(path: string, subject: (path: string) => string): JsonFault {
  return new JsonFault(path, 'isText', (at) => `${subject(at)} must be ${STORABLE_TEXT}`);
}
