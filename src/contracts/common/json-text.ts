import { BACKSLASH, CLOSE_BRACE, OPEN_BRACE, QUOTE, SHAPE } from './json-codes.js';
import { JsonFault } from './json-fault.js';
import { isStorableText, joinPath } from './text.js';

/** Deepest nesting of arrays and objects that is read (decision 8). */
export const MAX_JSON_DEPTH = 32;

/** The most that are told at once: an answer must not be many times what was sent. */
export const MAX_FAULTS = 100;

/** Escapes that can bring what UTF-8 itself cannot carry: U+0000 and lone surrogates. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

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
export function forbiddenIn(text: string, depth: number): readonly JsonFault[] {
  const isSuspicious = SUSPICIOUS_ESCAPE.test(text) || nestsDeeper(text, MAX_JSON_DEPTH - depth + 1);
  return isSuspicious ? faultsOf(text, depth) : [];
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

function faultsOf(text: string, depth: number): JsonFault[] {
  const faults = new Map<string, JsonFault>();
  const open: Open[] = [];
  let isNameNext = false;
  let told = 0;
  const tell = (fault: JsonFault) => {
    told++;
    if (!faults.has(fault.path)) faults.set(fault.path, fault);
  };
  for (let i = 0; i < text.length && told < MAX_FAULTS; i++) {
    const character = text[i];
    const place = open.at(-1);
    if (character === '"') {
      const end = endOfString(text, i);
      const written = text.slice(i, end + 1);
      if (isNameNext && place !== undefined) {
        if (!isStorable(written)) tell(unstorable(pathOf(open.slice(0, -1)), nameIn));
        place.at = written;
        isNameNext = false;
      } else if (!isStorable(written)) tell(unstorable(pathOf(open), valueAt));
      i = end;
    } else if (character === '{' || character === '[') {
      if (depth + open.length > MAX_JSON_DEPTH) {
        tell(tooDeep(pathOf(open)));
        i = endOfNested(text, i);
      } else {
        isNameNext = character === '{';
        open.push({ isList: !isNameNext, at: 0 });
      }
    } else if (character === '}' || character === ']') {
      open.pop();
      isNameNext = false;
    } else if (character === ',' && place !== undefined) {
      if (place.isList) place.at = Number(place.at) + 1;
      else isNameNext = true;
    }
  }
  return [...faults.values()];
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
  open.reduce((path, { at }) => joinPath(path, typeof at === 'number' ? at : nameOf(at)), '');

const tooDeep = (path: string): JsonFault =>
  new JsonFault(path, 'maxDepth', (at) => `${at} must not be nested deeper than ${MAX_JSON_DEPTH}`);

const valueAt = (path: string) => (path === '' ? 'the body' : path);
/** The name itself is what nobody could show. */
const nameIn = (path: string) => (path === '' ? 'the name of a field' : `the name of a field of ${path}`);

function unstorable(path: string, subject: (path: string) => string): JsonFault {
  const must = 'must be valid Unicode without U+0000 and without lone surrogates';
  return new JsonFault(path, 'isText', (at) => `${subject(at)} ${must}`);
}
