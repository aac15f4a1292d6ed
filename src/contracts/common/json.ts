import { isUtf8 } from 'node:buffer';
import { JsonFault } from './json-fault.js';
import { forbiddenIn } from './json-text.js';
import type { TextFaults } from './told-faults.js';

const BYTE_ORDER_MARK = '\ufeff';

/** What a JSON object is read as; a list is none. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was read, and what in its text PostgreSQL or the next reader could not hold (decision 8). */
export interface JsonRead extends TextFaults {
  readonly value: unknown;
}

/** The text that has just these bytes, a byte order mark included. Throws `JsonFault` where they are not UTF-8. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new JsonFault('', 'isUtf8', () => 'the body must be UTF-8');
  return bytes.toString('utf8');
}

/** Throws `JsonFault` where the text is no JSON. `depth` is where it stands in a larger document, from 1. */
export function parseJson(text: string, depth = 1): JsonRead {
  const value = parse(withoutMark(text));
  const { faults, areMore } = forbiddenIn(text, depth);
  return { value, faults, areMore };
}

/** A text without the byte order mark that it may begin with, which is no part of the JSON. */
export function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
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
