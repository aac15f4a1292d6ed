import { type Instant, parseInstant } from '../instant.js';
import { isJsonObject } from '../json.js';
import type { RuleName } from '../rules.js';
import { codePoints, isBlank, isStorableText, isUuid, STORABLE_TEXT } from '../text.js';
import { type Check, checkOf, type DtoClass, type Fault, faultOf, type FieldPlan, type Rule, field } from './field.js';
import {
  example,
  type IntegerOptions,
  type ListOptions,
  type Options,
  type QueryOptions,
  type Bounds,
  type TextMapLimits,
  type TextOptions,
} from './options.js';

/*
 * The decorators of a DTO's fields: a description, then options. A decorator is the only definition of its field: the
 * documents, the columns of a CSV and the options of a command follow from it, and so does the validation of a field that
 * is read (`validation.ts`, `readerOf`). No field of an answer is validated.
 */

const UUID_EXAMPLE = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
const TIME_EXAMPLE = '2026-01-31T08:30:00Z';
const PERIOD_EXAMPLE = '2026-01-31T08:30:00Z,2026-01-31T09:30:00Z';

/** Documented maximum of a text that only `HTTP_BODY_LIMIT` bounds. */
const BODY_LIMIT = 1_048_576;

const merged = <Given extends Options>(options: readonly Given[]): Given => Object.assign({}, ...options) as Given;

type Behaviour = Omit<FieldPlan, 'isOptional' | 'checks'> & { readonly checks: readonly (Rule | Check)[] };

function defined(description: string, options: Options, schema: object, behaviour: Behaviour): PropertyDecorator {
  const isOptional = options.optional === true;
  return field(
    {
      ...schema,
      description,
      required: !isOptional,
      ...(options.example === undefined ? {} : { example: options.example }),
      ...(options.nullable === true ? { nullable: true } : {}),
    },
    { ...behaviour, isOptional, checks: behaviour.checks.map((each) => ('faults' in each ? each : checkOf(each))) },
  );
}

/** Converts `true` and `false`; returns any other value as it is, for validation to refuse. */
function booleanIn(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

export function Flag(description: string, ...options: readonly QueryOptions[]): PropertyDecorator {
  const all = merged<QueryOptions>([example(true), ...options]);
  const convert = (value: unknown) => (all.inQuery === true ? booleanIn(value) : value);
  const rule: Rule = {
    name: 'isBoolean',
    validate: (value) => typeof convert(value) === 'boolean',
    must: 'must be true or false',
  };
  return defined(description, all, { type: 'boolean' }, { checks: [rule], convert });
}

/** Any finite IEEE double (decision 25). */
export function Decimal(description: string, ...options: readonly Options[]): PropertyDecorator {
  const rule: Rule = {
    name: 'isNumber',
    validate: (value) => typeof value === 'number' && Number.isFinite(value),
    must: 'must be a finite number',
  };
  return defined(description, merged(options), { type: 'number', format: 'double' }, { checks: [rule] });
}

/** Converts a whole number; returns any other value as it is, for validation to refuse. */
function integerIn(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
}

/** A whole number; from 0 without a range. */
export function Integer(description: string, ...options: readonly IntegerOptions[]): PropertyDecorator {
  const { min: lowest = 0, max: highest = Number.MAX_SAFE_INTEGER, orMore = false, ...all } = merged(options);
  const convert = (value: unknown) => {
    const number = all.inQuery === true ? integerIn(value) : value;
    return orMore && typeof number === 'number' ? Math.min(number, highest) : number;
  };
  const rule: Rule = {
    name: 'isInteger',
    validate: (value) => {
      const number = convert(value);
      return Number.isInteger(number) && (number as number) >= lowest && (number as number) <= highest;
    },
    must: orMore ? `must be a whole number from ${lowest}` : `must be a whole number from ${lowest} to ${highest}`,
  };
  const schema = {
    type: 'integer',
    format: highest > 0x7fffffff ? 'int64' : 'int32',
    minimum: lowest,
    maximum: highest,
    ...(all.default === undefined ? {} : { default: all.default }),
  };
  return defined(description, all, schema, { checks: [rule], convert });
}

/** A `+` may have arrived as a space (decision 7). */
const instantInQuery = (text: string): Instant | undefined => parseInstant(text.replace(/ (?=\d\d:\d\d$)/, '+'));

/**
 * An RFC 3339 date-time with an offset, converted to an `Instant`. In a query string a `+` may arrive as a space
 * (decision 7).
 */
export function Time(description: string, ...options: readonly QueryOptions[]): PropertyDecorator {
  const all = merged<QueryOptions>([example(TIME_EXAMPLE), ...options]);
  let lastText: string | undefined;
  let lastInstant: Instant | undefined;
  // Called twice for each value, to validate and to convert it.
  const parse = (value: unknown) => {
    if (typeof value !== 'string') return undefined;
    if (value !== lastText) {
      lastText = value;
      lastInstant = all.inQuery === true ? instantInQuery(value) : parseInstant(value);
    }
    return lastInstant;
  };
  const rule: Rule = {
    name: 'isInstant',
    validate: (value) => parse(value) !== undefined,
    must: 'must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z',
  };
  const schema = { type: 'string', format: 'date-time', maxLength: 64 };
  return defined(description, all, schema, { checks: [rule], convert: parse });
}

/** A time that a list is asked for, the end excluded. */
export class TimeRange {
  constructor(
    readonly from: Instant,
    readonly to: Instant,
  ) {}
}

/** Two instants with a comma between, in a query string, converted to a `TimeRange`. */
export function Period(description: string, ...options: readonly Options[]): PropertyDecorator {
  const all = merged([example(PERIOD_EXAMPLE), ...options]);
  const parse = (value: unknown): TimeRange | undefined => {
    // Converted before it is checked.
    if (value instanceof TimeRange) return value;
    if (typeof value !== 'string') return undefined;
    const [from, to, ...more] = value.split(',').map(instantInQuery);
    return from === undefined || to === undefined || more.length > 0 || from >= to
      ? undefined
      : new TimeRange(from, to);
  };
  const rule: Rule = {
    name: 'isRange',
    validate: (value) => parse(value) !== undefined,
    must: 'must be two RFC 3339 date-times with a comma between, the earlier one first',
  };
  const schema = { type: 'string', pattern: '^[^,]{1,64},[^,]{1,64}$', maxLength: 129 };
  return defined(description, all, schema, { checks: [rule], convert: parse });
}

/** Text whose length counts Unicode code points (decision 8). */
export function Text(description: string, ...options: readonly TextOptions[]): PropertyDecorator {
  const all = merged(options);
  const { min: shortest = 0, max: longest = Number.POSITIVE_INFINITY, pattern, form } = all;
  const values = all.values === undefined ? undefined : new Set(all.values);
  const length = lengthInWords(shortest, longest);
  const rule: Rule = {
    name: all.rule ?? ruleName(pattern, length),
    validate: (value) => {
      if (typeof value !== 'string' || !isStorableText(value)) return false;
      if (!hasLength(value, shortest, longest) || values?.has(value) === false) return false;
      if (pattern !== undefined && !pattern.test(value)) return false;
      return all.check === undefined || all.check(value);
    },
    isTextRule: true,
    must: `must be ${form ?? 'text'}${form !== undefined && pattern !== undefined ? '' : length}`,
  };
  const documentedMax = all.isUnbounded === true ? BODY_LIMIT : all.max;
  const schema = {
    type: 'string',
    ...(shortest === 0 ? {} : { minLength: shortest }),
    ...(documentedMax === undefined ? {} : { maxLength: documentedMax }),
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
    ...(all.format === undefined ? {} : { format: all.format }),
    ...(all.values === undefined ? {} : { enum: [...all.values] }),
  };
  return defined(description, all, schema, { checks: [rule] });
}

/** A name: text with at least one visible character. */
export function Name(description: string, ...options: readonly (Options & Bounds)[]): PropertyDecorator {
  const check = (value: string) => !isBlank(value);
  return Text(`${description}; not blank`, { min: 1, check, form: 'text that is not blank,' }, ...options);
}

/** One of a closed set of texts. */
export function OneOf(
  description: string,
  values: readonly string[],
  ...options: readonly Options[]
): PropertyDecorator {
  const all = merged<Options>([example(values[0]), ...options]);
  const rule = oneOf(values);
  const schema = { type: 'string', enum: [...values, ...(all.nullable === true ? [null] : [])] };
  return defined(description, all, schema, { checks: [rule] });
}

function oneOf(values: readonly string[]): Rule {
  const allowed = new Set<unknown>(values);
  return { name: 'isEnum', validate: (value) => allowed.has(value), must: `must be one of ${values.join(', ')}` };
}

/** Any version of a UUID in either case, converted to lower case (decision 6). */
export function Uuid(description: string, ...options: readonly Options[]): PropertyDecorator {
  const rule: Rule = {
    name: 'isUuid',
    validate: (value) => typeof value === 'string' && isUuid(value),
    must: 'must be a UUID such as 3f2b8c1e-5d4a-4f6b-9c7d-8e9f0a1b2c3d',
  };
  const schema = { type: 'string', format: 'uuid', maxLength: 36 };
  const convert = (value: unknown) => (value as string).toLowerCase();
  return defined(description, merged([example(UUID_EXAMPLE), ...options]), schema, { checks: [rule], convert });
}

/** An object with fields of its own. */
export function Nested(description: string, type: DtoClass, ...options: readonly Options[]): PropertyDecorator {
  const rule: Rule = { name: 'isObject', validate: isJsonObject, must: 'must be an object' };
  return defined(description, merged(options), { type }, { checks: [rule], nested: { type, isArray: false } });
}

/** An array of objects, each read under its own path, `materials[2].quantity`. */
export function NestedList(description: string, type: DtoClass, ...options: readonly ListOptions[]): PropertyDecorator {
  const all = merged(options);
  const behaviour = { checks: [arrayRule(all, 'elements')], nested: { type, isArray: true } };
  return defined(description, all, { isArray: true, ...itemBounds(all), type }, behaviour);
}

/** An array of texts that are not blank. `maxLength` bounds each. */
export function TextList(
  description: string,
  ...options: readonly (ListOptions & { readonly maxLength?: number })[]
): PropertyDecorator {
  const all = merged(options);
  const { maxLength = Number.POSITIVE_INFINITY } = all;
  const form = `not blank, of 1 to ${maxLength} characters`;
  const element: Rule = {
    name: 'isLength',
    validate: (value) =>
      typeof value === 'string' && isStorableText(value) && !isBlank(value) && codePoints(value) <= maxLength,
    isTextRule: true,
    must: `must be text that is ${form}`,
  };
  const items = { type: 'string', minLength: 1, ...(all.maxLength === undefined ? {} : { maxLength }) };
  const checks = [arrayRule(all, `texts that are ${form}`), elementCheck(element)];
  return defined(description, all, { type: 'array', items, ...itemBounds(all) }, { checks });
}

/** An array of values of a closed set. */
export function OneOfList(
  description: string,
  values: readonly string[],
  ...options: readonly ListOptions[]
): PropertyDecorator {
  const all = merged(options);
  const rule = {
    ...arrayRule(all, ''),
    // Without the maximum: it is larger than the number of values, because repeated values are allowed.
    must: `must be an array of ${(all.min ?? 0) === 0 ? '' : `at least ${all.min} of `}${values.join(', ')}`,
  };
  const schema = { isArray: true, ...itemBounds(all), type: 'string', enum: [...values] };
  return defined(description, all, schema, { checks: [rule, elementCheck(oneOf(values))] });
}

/** A map of text values. `null` is invalid here, although it counts as absent for a field (decision 5). */
export function TextMap(
  description: string,
  { maxEntries, maxName, maxValue }: TextMapLimits,
  ...options: readonly Options[]
): PropertyDecorator {
  const faults = (value: unknown): Fault[] =>
    Object.entries(value as object).flatMap(([key, entry]) => {
      if (!isStorableText(key)) return [{ key, rule: 'isText', must: `must have a name that is ${STORABLE_TEXT}` }];
      if (codePoints(key) > maxName) return [{ key, must: `must have a name of at most ${maxName} characters` }];
      if (typeof entry !== 'string' || !isStorableText(entry) || codePoints(entry) > maxValue) {
        const must = `must be text of at most ${maxValue} characters`;
        return [{ ...faultOf({ must, isTextRule: true }, entry), key }];
      }
      return [];
    });
  // Checks the size first, so that the entries of an oversized map are not read.
  const rule: Rule = {
    name: 'isTextMap',
    validate: (value) => isJsonObject(value) && Object.keys(value).length <= maxEntries,
    must: `must be an object of at most ${maxEntries} texts`,
  };
  const additionalProperties = { type: 'string', maxLength: maxValue };
  const schema = { type: 'object', additionalProperties, maxProperties: maxEntries };
  return defined(description, merged(options), schema, { checks: [rule, { name: 'isTextMap', faults }] });
}

/** A value with a schema that no other decorator has. In a request it needs a rule. */
export function Json(
  description: string,
  schema: object,
  ...options: readonly (Options & { readonly rule?: Rule })[]
): PropertyDecorator {
  const { rule, ...all } = merged(options);
  return defined(description, all, schema, { checks: rule === undefined ? [] : [rule] });
}

function arrayRule({ min: fewest = 0, max: most }: Bounds, elements: string): Rule {
  const size = most === undefined ? (fewest === 0 ? '' : `at least ${fewest} `) : `${fewest} to ${most} `;
  return {
    name: 'isArray',
    validate: (value) => Array.isArray(value) && value.length >= fewest && (most === undefined || value.length <= most),
    must: `must be an array of ${size}${elements}`,
  };
}

const itemBounds = (options: Bounds) => ({
  ...(options.min === undefined ? {} : { minItems: options.min }),
  ...(options.max === undefined ? {} : { maxItems: options.max }),
});

/** Reports each element under its own path, `aliases[2]`. */
function elementCheck(rule: Rule): Check {
  return {
    name: rule.name,
    faults: (value) =>
      (value as unknown[]).flatMap((element, key) =>
        rule.validate(element) ? [] : [{ ...faultOf(rule, element), key }],
      ),
  };
}

/** UTF-16 units bound the code points from both sides, so most texts need no counting. */
function hasLength(value: string, shortest: number, longest: number): boolean {
  if (value.length <= longest && value.length >= shortest * 2) return true;
  const count = codePoints(value);
  return count >= shortest && count <= longest;
}

function lengthInWords(shortest: number, longest: number): string {
  if (longest === Number.POSITIVE_INFINITY) return shortest === 0 ? '' : ` of at least ${shortest} characters`;
  return shortest === 0 ? ` of at most ${longest} characters` : ` of ${shortest} to ${longest} characters`;
}

function ruleName(pattern: RegExp | undefined, length: string): RuleName {
  if (pattern !== undefined) return 'matches';
  return length === '' ? 'isString' : 'isLength';
}
