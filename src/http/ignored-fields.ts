import type { Response } from 'express';
import { type DtoClass, fieldPlans, type Nested } from '../contracts/common/fields/field.js';
import { isJsonObject } from '../contracts/common/json.js';
import { joinPath } from '../contracts/common/text.js';

/** Names the fields of a request that the service ignored (decision 51). */
export const IGNORED_FIELDS_HEADER = 'Ignored-Fields';

const MAX_PATHS = 10;
const MAX_LENGTH = 4_096;

/** The known fields of a DTO class. A field of objects, or of a list of objects, has their type. */
type Fields = ReadonlyMap<string, Nested | undefined>;

const known = new Map<DtoClass<object>, Fields>();

function fieldsOf(type: DtoClass<object>): Fields {
  let fields = known.get(type);
  if (fields === undefined) {
    fields = new Map(fieldPlans(type).map(([name, { nested }]) => [name, nested]));
    known.set(type, fields);
  }
  return fields;
}

/** Sets the header if the body has unknown fields. The body need not be valid. */
export function reportIgnoredFields(type: DtoClass<object>, body: unknown, response: Response): void {
  if (!hasUnknown(fieldsOf(type), body)) return;
  const found: string[] = [];
  collect(fieldsOf(type), body, '', found);
  const value = found.slice(0, MAX_PATHS).join(', ');
  response.setHeader(IGNORED_FIELDS_HEADER, value.length <= MAX_LENGTH ? value : `${value.slice(0, MAX_LENGTH)}...`);
}

/** Most bodies have no unknown field: their paths need not be built. */
function hasUnknown(fields: Fields, value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  for (const name in value) {
    if (!fields.has(name)) return true;
    const nested = fields.get(name);
    if (nested === undefined) continue;
    const inner = fieldsOf(nested.type());
    const content = value[name];
    if (!nested.isArray) {
      if (hasUnknown(inner, content)) return true;
    } else if (Array.isArray(content)) {
      for (const element of content as unknown[]) if (hasUnknown(inner, element)) return true;
    }
  }
  return false;
}

function collect(fields: Fields, value: unknown, path: string, found: string[]): void {
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    if (found.length >= MAX_PATHS) return;
    if (!fields.has(name)) {
      found.push(describe(joinPath(path, name), name, fields));
      continue;
    }
    const nested = fields.get(name);
    if (nested === undefined) continue;
    const inner = fieldsOf(nested.type());
    const content = value[name];
    if (!nested.isArray) collect(inner, content, joinPath(path, name), found);
    else if (Array.isArray(content)) {
      content.forEach((element, i) => collect(inner, element, joinPath(joinPath(path, name), i), found));
    }
  }
}

function describe(path: string, name: string, fields: Fields): string {
  const encoded = path.toWellFormed().replace(/[^\x21-\x7e]+/gu, encodeURIComponent);
  const meant = [...fields.keys()].find((field) => isNearly(name, field));
  return meant === undefined ? encoded : `${encoded} (did you mean ${meant}?)`;
}

/** Whether two names differ by case, or by one letter that is absent, added, replaced or swapped with its neighbour. */
export function isNearly(name: string, other: string): boolean {
  const [a, b] = [name.toLowerCase(), other.toLowerCase()];
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  if (a.slice(start) === b.slice(start)) return true;
  const [restA, restB] = [a.slice(start + 1), b.slice(start + 1)];
  if (restA === restB || restA === b.slice(start) || a.slice(start) === restB) return true;
  const isSwapped = a[start] === b[start + 1] && a[start + 1] === b[start];
  return isSwapped && a.slice(start + 2) === b.slice(start + 2);
}
