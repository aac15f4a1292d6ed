import { isUtf8 } from 'node:buffer';
import { isStorableText, joinPath } from './text.js';
import type { Violation } from './violation.js';

/** Deepest nesting of arrays and objects that is read (decision 8). */
export const MAX_JSON_DEPTH = 32;

export class JsonFault extends Error {
  constructor(readonly violation: Violation) {
    super(violation.message);
    this.name = 'JsonFault';
  }
}

const fault = (path: string, rule: string, message: string): JsonFault => new JsonFault({ path, rule, message });

/** Escapes that can bring what UTF-8 itself cannot carry: U+0000 and lone surrogates. */
const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;

const BYTE_ORDER_MARK = '\ufeff';

/** What a JSON object is read as; a list is none. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As `parseJson`, of bytes. */
export const readJson = (bytes: Buffer): unknown => parseJson(textOf(bytes));

/** The text that has just these bytes, a byte order mark included. Throws `JsonFault` where they are not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw fault('', 'isUtf8', 'the body must be UTF-8');
  return bytes.toString('utf8');
}

/**
 * Reads JSON that PostgreSQL and the next reader can hold: no U+0000, no lone surrogate in any value or name, nesting
 * of at most 32 (decision 8). Throws `JsonFault`, which names the place.
 */
export function parseJson(text: string): unknown {
  const value = parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text);
  inspect(value, '', 1, SUSPICIOUS_ESCAPE.test(text));
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw fault(
      '',
      'isJson',
      text.trim() === '' ? 'the body must be a JSON object, it is empty' : 'the body must be valid JSON',
    );
  }
}

function inspect(value: unknown, path: string, depth: number, checkText: boolean): void {
  if (typeof value === 'string') {
    if (checkText && !isStorableText(value)) throw unstorable(path);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_JSON_DEPTH) throw fault(path, 'maxDepth', `${path} must not be nested deeper than ${MAX_JSON_DEPTH}`);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      if (typeof element === 'object' || checkText) inspect(element, joinPath(path, i), depth + 1, checkText);
    }
    return;
  }
  for (const key of Object.keys(value)) {
    if (checkText && !isStorableText(key))
      throw unstorable(path === '' ? 'the name of a field' : `the name of a field of ${path}`);
    const element = (value as Record<string, unknown>)[key];
    if (typeof element === 'object' || checkText) inspect(element, joinPath(path, key), depth + 1, checkText);
  }
}

function unstorable(path: string): JsonFault {
  return fault(path, 'isText', `${path} must be valid Unicode without U+0000 and without lone surrogates`);
}
