import type { ApiPropertyOptions } from '@nestjs/swagger';
import { isJsonObject, joinPath } from '../json.js';
import { isStorableText, STORABLE_TEXT } from '../text.js';
import type { RuleName } from '../rules.js';
import type { Violation } from '../violation.js';

export type DtoClass<T = object> = new () => T;

export interface Rule {
  readonly name: RuleName;
  readonly validate: (value: unknown) => boolean;
  /** Follows the field's path in the message of a violation. */
  readonly must: string;
  /** Reports U+0000 and lone surrogates as `isText`: the length may be valid. */
  readonly isTextRule?: boolean;
}

/** A fault of a value, or of one entry of a map or list. */
export interface Fault {
  readonly key?: string | number;
  /** Defaults to the name of the rule. */
  readonly rule?: RuleName;
  readonly must: string;
}

type NamedFault = Fault & { readonly rule: RuleName };

/** A rule for a whole value, or for each of its entries. The list of faults is empty for a valid value. */
export interface Check {
  readonly name: RuleName;
  readonly faults: (value: unknown) => readonly Fault[];
}

/** How a field is read. */
export interface FieldPlan {
  readonly isOptional: boolean;
  /** In order: a check sees only values that those before it accept. */
  readonly checks: readonly Check[];
  readonly convert?: ((value: unknown) => unknown) | undefined;
  readonly nested?: Nested | undefined;
}

export interface Nested {
  readonly type: DtoClass;
  readonly isArray: boolean;
}

/** The OpenAPI schema of a field, and whether it is required. */
export type FieldSchema = ApiPropertyOptions;

/** A field of a DTO: what its decorator says of it. */
export interface Field {
  readonly schema: FieldSchema;
  readonly plan: FieldPlan;
}

/** A class, also an abstract one. */
interface AnyClass {
  readonly prototype: object;
}

const NO_FIELDS: ReadonlyMap<string, Field> = new Map();

const registered = new Map<AnyClass, Map<string, Field>>();

/** The decorator that gives a class a field. The contracts load no framework: documents, command line and validation read it here. */
export function field(schema: FieldSchema, plan: FieldPlan): PropertyDecorator {
  return (prototype, name) => {
    const type = prototype.constructor;
    const fields = registered.get(type) ?? new Map<string, Field>();
    registered.set(type, fields.set(String(name), { schema, plan }));
  };
}

/** The fields that a class itself declares. */
export const ownFieldsOf = (type: AnyClass): ReadonlyMap<string, Field> => registered.get(type) ?? NO_FIELDS;

/** A class and its base classes, the most general first. */
export function lineageOf<Type extends AnyClass>(type: Type): Type[] {
  const base: unknown = Object.getPrototypeOf(type);
  return typeof base === 'function' && base !== Function.prototype
    ? [...lineageOf(base as unknown as Type), type]
    : [type];
}

/** The fields of a class, its base class's first. A class that declares a field again replaces its schema. */
export function fieldsOf(type: AnyClass): ReadonlyMap<string, FieldSchema> {
  const fields = lineageOf(type).flatMap((each) => [...ownFieldsOf(each)]);
  return new Map(fields.map(([name, { schema }]) => [name, schema]));
}

const NO_FAULTS: readonly Fault[] = [];

export function checkOf(rule: Rule): Check {
  return { name: rule.name, faults: (value) => (rule.validate(value) ? NO_FAULTS : [faultOf(rule, value)]) };
}

/** Why a value breaks a rule. */
export const faultOf = ({ must, isTextRule }: Pick<Rule, 'must' | 'isTextRule'>, value: unknown): Fault =>
  isTextRule === true && typeof value === 'string' && !isStorableText(value)
    ? { rule: 'isText', must: `must be ${STORABLE_TEXT}` }
    : { must };

/** The faults of a value that class-validator has refused; empty if only what is nested in it has faults. */
export function violationsOf(plan: FieldPlan, path: string, value: unknown): Violation[] {
  if (value === undefined || value === null) {
    return plan.isOptional ? [] : [{ path, rule: 'isDefined', message: `${path} is required` }];
  }
  return (brokenCheck(plan, value) ?? []).map((fault) => violationOf(fault, path));
}

/** The faults that the first broken check finds. */
function brokenCheck({ checks }: FieldPlan, value: unknown): NamedFault[] | undefined {
  for (const { name, faults } of checks) {
    const found = faults(value);
    if (found.length > 0) return found.map((fault) => ({ rule: name, ...fault }));
  }
  return undefined;
}

function violationOf({ key, rule, must }: NamedFault, path: string): Violation {
  const at = key === undefined ? path : joinPath(path, key);
  return { path: at, rule, message: `${at} ${must}` };
}

export const notAnObject = (path: string): Violation => ({
  path,
  rule: 'isObject',
  message: `${path === '' ? 'the body' : path} must be an object`,
});

/** The fields of a DTO class, and after them those of its base classes; empty for any other class. */
export function fieldPlans(type: DtoClass): readonly (readonly [name: string, plan: FieldPlan])[] {
  const plans = new Map<string, FieldPlan>();
  for (const each of lineageOf<DtoClass>(type).reverse()) {
    for (const [name, { plan }] of ownFieldsOf(each)) if (!plans.has(name)) plans.set(name, plan);
  }
  return [...plans];
}

/** Whether a value that was read has fields that its class does not know. Not exact for a value with violations. */
export interface UnknownFields {
  areFound: boolean;
}

/** Reads a plain value as a DTO; adds every violation to `violations`, each under its own path. */
export type Read<T> = (value: unknown, path: string, violations: Violation[], unknown?: UnknownFields) => T;

const readers = new Map<DtoClass, Read<object>>();

/**
 * Compiles a DTO class for what comes in large numbers: pushes of tickets, and the records and recordings of partners. All
 * other requests are read by class-transformer and class-validator (`errors/validation.pipe.ts`), from the same decorators and with
 * the same results, which a property test compares. A ticket takes 2.4 µs, and 27 µs with both libraries:
 * without this reader the service takes 0.80 of the pushes at 8 connections (docs/adr/0009).
 */
export function readerOf<T extends object>(type: DtoClass<T>): Read<T> {
  let reader = readers.get(type);
  if (reader === undefined) {
    reader = compile(type);
    readers.set(type, reader);
  }
  return reader as Read<T>;
}

interface CompiledField {
  readonly name: string;
  readonly plan: FieldPlan;
}

function compile(type: DtoClass): Read<object> {
  const fields = fieldPlans(type).map(([name, plan]): CompiledField => ({ name, plan }));
  return (value, path, violations, unknown) => {
    const result = new type() as Record<string, unknown>;
    if (!isJsonObject(value)) {
      violations.push(notAnObject(path));
      return result;
    }
    let known = 0;
    for (const field of fields) {
      const isGiven = Object.hasOwn(value, field.name);
      if (isGiven) known++;
      const read = readField(field, isGiven ? value[field.name] : undefined, path, violations, unknown);
      if (read !== undefined) result[field.name] = read;
    }
    if (unknown !== undefined && Object.keys(value).length > known) unknown.areFound = true;
    return result;
  };
}

/** Builds a path only for a violation or a nested value: most fields are valid. */
function readField(
  { name, plan }: CompiledField,
  value: unknown,
  parent: string,
  violations: Violation[],
  unknown: UnknownFields | undefined,
): unknown {
  const { isOptional, convert, nested } = plan;
  if (value === undefined || value === null) {
    if (!isOptional) violations.push(...violationsOf(plan, fieldPath(parent, name), value));
    return undefined;
  }
  const broken = brokenCheck(plan, value);
  if (broken !== undefined) {
    violations.push(...broken.map((fault) => violationOf(fault, fieldPath(parent, name))));
    return undefined;
  }
  if (nested !== undefined) {
    const read = readerOf(nested.type);
    const path = fieldPath(parent, name);
    if (!nested.isArray) return read(value, path, violations, unknown);
    return (value as unknown[]).map((element, i) => read(element, `${path}[${i}]`, violations, unknown));
  }
  return convert === undefined ? value : convert(value);
}

export const fieldPath = (parent: string, name: string) => (parent === '' ? name : `${parent}.${name}`);
