import { isJsonObject } from '../contracts/common/json.js';
import { type DtoClass, fieldPlans, readerOf } from '../contracts/common/fields/field.js';
import type { Violation } from '../contracts/common/violation.js';
import { nameInsteadOf, shown, valueAt } from './checks.js';

/** The first faults of a field are listed, the others are counted. */
const MAX_LISTED = 3;

interface Faults {
  readonly messages: string[];
  count: number;
}

/**
 * Facts about the records of an answer: the faults and the presence of each field. A field is named by its path without
 * indices, `data.sites[].address.city`. It keeps no record, so an answer may be read as a stream.
 */
export class RecordFacts {
  private readonly byField = new Map<string, Faults>();
  private readonly present = new Set<string>();
  private readonly counts = new Map<string, number>();

  /** Checks a record against its contract, and returns it as it was read where it has no fault. */
  add<T extends object>(type: DtoClass<T>, list: string, index: number, value: unknown): T | undefined {
    this.counts.set(list, (this.counts.get(list) ?? 0) + 1);
    const path = `${list}[${index}]`;
    const violations: Violation[] = [];
    const record = readerOf(type)(value, path, violations);
    this.note(`${list}[]`, value, 2);
    const names = fieldPlans(type).map(([name]) => name);
    const misnamed = names.filter((name) => nameInsteadOf(value, name) !== undefined);
    const found = new Map([
      ...misnamed.map((name) => [`${path}.${name}`, `${path}.${name} is absent`] as const),
      ...violations.map((violation) => [violation.path, violation.message] as const),
    ]);
    for (const [at, message] of found) this.addFault(at, `${message}${hintOf(value, at.slice(path.length + 1))}`);
    return violations.length === 0 ? record : undefined;
  }

  addFault(path: string, message: string): void {
    const field = path.replace(/\[\d+\]/g, '[]');
    const faults = this.byField.get(field) ?? { messages: [], count: 0 };
    this.byField.set(field, faults);
    faults.count++;
    if (faults.messages.length < MAX_LISTED) faults.messages.push(message);
  }

  countOf(list: string): number {
    return this.counts.get(list) ?? 0;
  }

  has(field: string): boolean {
    return this.present.has(field);
  }

  /** One sentence, or undefined where the field has no fault. */
  faultOf(field: string): string | undefined {
    const faults = this.byField.get(field);
    if (faults === undefined) return undefined;
    const more = faults.count - faults.messages.length;
    return [...faults.messages, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  }

  private note(path: string, value: unknown, depth: number): void {
    if (!isJsonObject(value)) return;
    for (const [name, field] of Object.entries(value)) {
      if (field === null) continue;
      this.present.add(`${path}.${name}`);
      if (depth > 1) this.note(`${path}.${name}`, field, depth - 1);
    }
  }
}

/** What the record has at the path of a fault. */
function hintOf(record: unknown, path: string): string {
  const [value, other] = [valueAt(record, path), nameInsteadOf(record, path)];
  if (other !== undefined) return `: the record has ${other}`;
  return path === '' || value == null ? '' : `, it is ${shown(value)}`;
}
