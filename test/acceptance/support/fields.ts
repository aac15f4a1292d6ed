import type { Plain } from './hauler.js';

type Type = 'text' | 'number' | 'object' | 'array';

/** A field of a request: what it accepts and what it refuses, and the rows of the interface document that say so. */
export interface Field {
  readonly path: string;
  readonly rows: string;
  readonly type: Type;
  /** Whether the field may be left out, and whether `null` is the same (decision 5). */
  readonly may: 'not be absent' | 'be absent or null' | 'be absent';
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

export interface FieldCase {
  readonly path: string;
  readonly what: string;
  readonly value: unknown;
  readonly rows: string;
}

const VALUES: Readonly<Record<Type | 'boolean', readonly unknown[]>> = {
  text: ['x', '5', ''],
  number: [0, 1.5],
  boolean: [true, false],
  array: [[], ['x'], [{}]],
  object: [{}, { value: 'x' }],
};

/** Decision 8. `JSON.stringify` writes half a surrogate pair as its escape. */
const NO_UNICODE = ['x\0', '\ud800', 'a\udfffb', '\ude00\ud83d'];

const LONGEST = 36;

/** A value as a part of a title. */
export function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… of ${text.length} characters` : text;
}

const caseOf = ({ path, rows }: Field, value: unknown): FieldCase => ({ path, what: shown(value), value, rows });

/** Each refused value of each field: those of the table, other types, and what decisions 5 and 8 refuse. */
export const refusedCases = (fields: readonly Field[]): FieldCase[] =>
  fields.flatMap((field) => {
    const otherTypes = Object.entries(VALUES).flatMap(([type, values]) => (type === field.type ? [] : values));
    const missing = { 'not be absent': [undefined, null], 'be absent or null': [], 'be absent': [null] }[field.may];
    const text = field.type === 'text' ? NO_UNICODE : [];
    return [...field.bad, ...text, ...missing, ...otherTypes].map((value) => caseOf(field, value));
  });

/** Each accepted value of each field. */
export const acceptedCases = (fields: readonly Field[]): FieldCase[] =>
  fields.flatMap((field) => field.good.map((value) => caseOf(field, value)));

/** The ways to leave a field out. */
export const absentCases = (fields: readonly Field[]): FieldCase[] =>
  fields.flatMap((field) => {
    const ways = { 'not be absent': [], 'be absent or null': [undefined, null], 'be absent': [undefined] }[field.may];
    return ways.map((value) => caseOf(field, value));
  });

const keysOf = (path: string): string[] => path.split(/[.[\]]+/).filter((key) => key !== '');

/** A copy of a body with `value` at a path such as `materials[0].id`; `undefined` removes the field. */
export function withValue(body: Plain, path: string, value: unknown): Plain {
  const copy = structuredClone(body);
  const keys = keysOf(path);
  const last = keys.pop() ?? '';
  const parent = keys.reduce((at, key) => at[key] as Plain, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

/** What stands there. */
export const valueAt = (body: unknown, path: string): unknown =>
  keysOf(path).reduce<unknown>((at, key) => (at as Plain | undefined)?.[key], body);
