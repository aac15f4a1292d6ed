import type { RuleName } from './rules.js';
import { isUtf8 } from 'node:buffer';
import { isStorableText, STORABLE_TEXT } from './text.js';
import { MORE_VIOLATIONS, type Violation } from './violation.js';

/** Limit of one name in a path, in UTF-16 units. Every allowed name is shorter; an unknown name may have a megabyte. */
const MAX_NAME_LENGTH = 512;

/** `materials[2]`, then `.quantity`, or `["a.b"]` where the name is no plain identifier (decision 9). */
export function joinPath(parent: string, key: string | number): string {
  if (typeof key === 'number') return `${parent}[${key}]`;
  if (key.length > MAX_NAME_LENGTH) return joinPath(parent, `${key.slice(0, MAX_NAME_LENGTH - 1).toWellFormed()}…`);
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${parent}[${JSON.stringify(key)}]`;
  return parent === '' ? key : `${parent}.${key}`;
}

/** Maximum length of a path in UTF-16 units: 32 long names, escaped, would take 90 KB. */
const MAX_PATH_LENGTH = 1024;

/** A path for a violation: only both ends of a path that is too long, with `…` between them. */
export function shortPath(path: string): string {
  if (path.length <= MAX_PATH_LENGTH) return path;
  const half = (MAX_PATH_LENGTH >> 1) - 1;
  return `${path.slice(0, half).toWellFormed()}…${path.slice(-half).toWellFormed()}`;
}

/** Maximum nesting of arrays and objects (decision 8). */
export const MAX_JSON_DEPTH = 32;

/** Bounds of the violations of one body's text: an error body must not be many times the size of the request. */
const MAX_TEXT_VIOLATIONS = 100;
const MAX_TEXT_VIOLATION_CHARACTERS = 32_768;

const BYTE_ORDER_MARK = '\ufeff';

/** Whether a parsed value has arrays and objects within more than `levels` others. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((entry) => isDeeper(entry, levels - 1));
}

/** The value with 0 in place of what is within more than `levels` arrays and objects. */
export function limitDepth(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return 0;
  if (Array.isArray(value)) return value.map((entry) => limitDepth(entry, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, limitDepth(entry, levels - 1)]));
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** False for arrays. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An own property of a value, which may not be an object. Inherited properties are ignored. */
export function ownField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** A body that is not UTF-8 or not JSON. */
export class InvalidJsonError extends Error {
  readonly violation: Violation;

  constructor(rule: 'isUtf8' | 'isJson', message: string) {
    super(message);
    this.name = 'InvalidJsonError';
    this.violation = { path: '', rule, message };
  }
}

/** Decodes a body, byte order mark included. Throws `InvalidJsonError`. */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new InvalidJsonError('isUtf8', 'the body must be UTF-8');
  return bytes.toString('utf8');
}

/** Throws `InvalidJsonError`. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text)) as unknown;
  } catch (error) {
    const isEmpty = text.trim() === '';
    throw new InvalidJsonError(
      'isJson',
      isEmpty ? 'the body must be a JSON object, it is empty' : `the body must be valid JSON${placeOf(error)}`,
    );
  }
}

/** The value, or the text itself if it is no JSON. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** V8 reports the place of some faults; the rest of its message may quote the body. */
function placeOf(error: unknown): string {
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec((error as Error).message) ?? [];
  return line === undefined ? '' : `: syntax error at line ${line}, column ${column}`;
}

export function withoutByteOrderMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/** Of U+0000 and of surrogates, which may be lone. Valid JSON in UTF-8 has them in no other form. */
const DOUBTFUL_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/** Whether a valid JSON text may have what decision 8 forbids, so that `JsonTextCheck` has to look. */
export const isDoubtfulText = (text: string): boolean => DOUBTFUL_ESCAPE.test(text) || hasManyBrackets(text);

/** Whether a text has more opening brackets than levels are allowed. */
function hasManyBrackets(text: string): boolean {
  let count = 0;
  for (const bracket of '{[') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++count > MAX_JSON_DEPTH) return true;
    }
  }
  return false;
}

/**
 * Collects what decision 8 forbids in parsed JSON, in unknown fields too: U+0000 and lone surrogates in values and names,
 * and nesting deeper than 32. Each path is reported once.
 */
export class JsonTextCheck {
  private readonly byPath = new Map<string, Violation>();
  private readonly keys: (string | number)[] = [];
  private characters = 0;
  private isFull = false;

  get violations(): readonly Violation[] {
    return [...this.byPath.values()];
  }

  /** `keys` and `depth` locate a value that is part of a larger body. */
  check(value: unknown, keys: readonly (string | number)[] = [], depth = 1): this {
    this.keys.push(...keys);
    this.walk(value, depth);
    this.keys.length = 0;
    return this;
  }

  /** The violations of the text, then those of the DTO under other paths. */
  with(ofFields: readonly Violation[]): Violation[] {
    const others = ofFields.filter(({ path }) => !this.byPath.has(path));
    return [...this.violations, ...others, ...(this.isFull ? [MORE_VIOLATIONS] : [])];
  }

  private walk(value: unknown, depth: number): void {
    if (typeof value === 'string') {
      if (!isStorableText(value)) this.add('isText', `must be ${STORABLE_TEXT}`);
    } else if (typeof value !== 'object' || value === null) return;
    else if (depth > MAX_JSON_DEPTH) this.add('maxDepth', `must not be nested deeper than ${MAX_JSON_DEPTH}`);
    else if (Array.isArray(value)) this.walkArray(value, depth);
    else this.walkObject(value as JsonObject, depth);
  }

  private walkArray(elements: readonly unknown[], depth: number): void {
    for (let i = 0; i < elements.length && !this.isFull; i++) this.walkMember(i, elements[i], depth);
  }

  private walkObject(fields: JsonObject, depth: number): void {
    for (const name of Object.keys(fields)) {
      if (this.isFull) return;
      if (!isStorableText(name)) this.add('isText', `must have field names that are ${STORABLE_TEXT}`);
      this.walkMember(name, fields[name], depth);
    }
  }

  private walkMember(key: string | number, value: unknown, depth: number): void {
    this.keys.push(key);
    this.walk(value, depth + 1);
    this.keys.pop();
  }

  private add(rule: RuleName, must: string): void {
    if (this.byPath.size >= MAX_TEXT_VIOLATIONS || this.characters > MAX_TEXT_VIOLATION_CHARACTERS) {
      this.isFull = true;
      return;
    }
    const path = shortPath(this.keys.reduce<string>(joinPath, ''));
    if (this.byPath.has(path)) return;
    const message = `${path === '' ? 'the body' : path} ${must}`;
    this.byPath.set(path, { path, rule, message });
    this.characters += JSON.stringify(path).length + message.length;
  }
}

/** JSON text that is copied into a response unparsed: its numbers keep every digit (decision 25). */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = withoutByteOrderMark(text);
  }
}

/** `JSON.stringify` for an object whose fields may be `JsonText`. */
export function stringifyWithJsonText(fields: object): string {
  const members = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) => `${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`,
    );
  return `{${members.join(',')}}`;
}
