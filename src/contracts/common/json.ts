import { isUtf8 } from 'node:buffer';
import { isStorableText, joinPath } from './text.js';
import type { Violation } from './violation.js';

/** Deepest nesting of arrays and objects that is read (decision 8). */
export const MAX_JSON_DEPTH = 32;

export class JsonFault extends Error {
  /** `sentence` makes the message out of a path. */
  constructor(
    readonly path: string,
    private readonly rule: string,
    private readonly sentence: (path: string) => string,
  ) {
    super(sentence(path));
    this.name = 'JsonFault';
  }

  get violation(): Violation {
    return this.violationAt(this.path);
  }

  /** For whoever read a piece of something larger, and knows the path there. */
  violationAt(path: string): Violation {
    return { path, rule: this.rule, message: this.sentence(path) };
  }
}

/** Escapes that can bring what UTF-8 itself cannot carry: U+0000 and lone surrogates. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

const BYTE_ORDER_MARK = '\ufeff';

/** What a JSON object is read as; a list is none. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As `parseJson`, of bytes. */
export const readJson = (bytes: Buffer, depth?: number): unknown => parseJson(textOf(bytes), depth);

/** The text that has just these bytes, a byte order mark included. Throws `JsonFault` where they are not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new JsonFault('', 'isUtf8', () => 'the body must be UTF-8');
  return bytes.toString('utf8');
}

/**
 * Reads JSON that PostgreSQL and the next reader can hold: no U+0000, no lone surrogate in any value or name, nesting
 * of at most 32 (decision 8). Throws `JsonFault`, which names the place. `depth` is where the text stands in a larger
 * document, from 1.
 */
export function parseJson(text: string, depth = 1): unknown {
  const value = parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text);
  inspect(value, '', depth, SUSPICIOUS_ESCAPE.test(text));
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const isEmpty = text.trim() === '';
    throw new JsonFault('', 'isJson', () =>
      isEmpty ? 'the body must be a JSON object, it is empty' : 'the body must be valid JSON',
    );
  }
}

function inspect(value: unknown, path: string, depth: number, checkText: boolean): void {
  if (typeof value === 'string') {
    if (checkText && !isStorableText(value)) throw unstorable(path, valueAt);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_JSON_DEPTH) throw tooDeep(path);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      if (typeof element === 'object' || checkText) inspect(element, joinPath(path, i), depth + 1, checkText);
    }
    return;
  }
  for (const key of Object.keys(value)) {
    if (checkText && !isStorableText(key)) throw unstorable(path, nameIn);
    const element = (value as Record<string, unknown>)[key];
    if (typeof element === 'object' || checkText) inspect(element, joinPath(path, key), depth + 1, checkText);
  }
}

const tooDeep = (path: string): JsonFault =>
  new JsonFault(path, 'maxDepth', (at) => `${at} must not be nested deeper than ${MAX_JSON_DEPTH}`);

const valueAt = (path: string) => (path === '' ? 'the body' : path);
/** The name itself is what nobody could show. */
const nameIn = (path: string) => (path === '' ? 'the name of a field' : `the name of a field of ${path}`);

function unstorable(path: string, subject: (path: string) => string): JsonFault {
  const must = 'must be valid Unicode without U+0000 and without lone surrogates';
  return new JsonFault(path, 'isText', (at) => `${subject(at)} ${must}`);
}
