import type { RuleName } from '../rules.js';
import { type Instant, parseInstant } from '../instant.js';
import { codePoints, isBlank, isStorableText, isUuid } from '../text.js';
import { DOCUMENTED_MAX, field, type FieldOptions } from './field.js';

interface QueryFieldOptions extends FieldOptions {
  /** The value arrives as text. */
  readonly inQuery?: boolean;
}

/** Converts `true` and `false`; returns any other value as it is, for validation to refuse. */
function booleanIn(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

export function BooleanField(options: QueryFieldOptions): PropertyDecorator {
  const convert = (value: unknown) => (options.inQuery === true ? booleanIn(value) : value);
  return field(
    options,
    { type: 'boolean' },
    {
      rule: {
        name: 'isBoolean',
        validate: (value) => typeof convert(value) === 'boolean',
        must: 'must be true or false',
      },
      convert,
    },
  );
}

/** Any finite IEEE double (decision 25). */
export function NumberField(options: FieldOptions): PropertyDecorator {
  return field(
    options,
    { type: 'number', format: 'double' },
    {
      rule: {
        name: 'isNumber',
        validate: (value) => typeof value === 'number' && Number.isFinite(value),
        must: 'must be a finite number',
      },
    },
  );
}

/** Converts a whole number; returns any other value as it is, for validation to refuse. */
function integerIn(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
}

export interface IntegerOptions extends QueryFieldOptions {
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  /** Reads a larger number as `max`. */
  readonly orMore?: boolean;
}

export function IntegerField(options: IntegerOptions): PropertyDecorator {
  const { min, max } = options;
  const orMore = options.orMore === true;
  const convert = (value: unknown) => {
    const number = options.inQuery === true ? integerIn(value) : value;
    return orMore && typeof number === 'number' ? Math.min(number, max) : number;
  };
  return field(
    options,
    {
      type: 'integer',
      format: max > 0x7fffffff ? 'int64' : 'int32',
      minimum: min,
      maximum: max,
      ...(options.default === undefined ? {} : { default: options.default }),
    },
    {
      rule: {
        name: 'isInteger',
        validate: (value) => {
          const number = convert(value);
          return Number.isInteger(number) && (number as number) >= min && (number as number) <= max;
        },
        must: orMore ? `must be a whole number from ${min}` : `must be a whole number from ${min} to ${max}`,
      },
      convert,
    },
  );
}

/** A `+` may have arrived as a space (decision 7). */
const instantInQuery = (text: string): Instant | undefined => parseInstant(text.replace(/ (?=\d\d:\d\d$)/, '+'));

/**
 * An RFC 3339 date-time with an offset, converted to an `Instant`. In a query string a `+` may arrive as a space
 * (decision 7).
 */
export function InstantField(options: QueryFieldOptions): PropertyDecorator {
  let lastText: string | undefined;
  let lastInstant: Instant | undefined;
  // Called twice for each value, to validate and to convert it.
  const parse = (value: unknown) => {
    if (typeof value !== 'string') return undefined;
    if (value !== lastText) {
      lastText = value;
      lastInstant = options.inQuery === true ? instantInQuery(value) : parseInstant(value);
    }
    return lastInstant;
  };
  return field(
    options,
    { type: 'string', format: 'date-time', maxLength: 64 },
    {
      rule: {
        name: 'isInstant',
        validate: (value) => parse(value) !== undefined,
        must: 'must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z',
      },
      convert: parse,
    },
  );
}

/** A time that a list is asked for, the end excluded. */
export class TimeRange {
  constructor(
    readonly from: Instant,
    readonly to: Instant,
  ) {}
}

/** Two instants with a comma between, in a query string, converted to a `TimeRange`. */
export function RangeField(options: FieldOptions): PropertyDecorator {
  const parse = (value: unknown): TimeRange | undefined => {
    // Converted before it is checked.
    if (value instanceof TimeRange) return value;
    if (typeof value !== 'string') return undefined;
    const [from, to, ...more] = value.split(',').map(instantInQuery);
    return from === undefined || to === undefined || more.length > 0 || from >= to
      ? undefined
      : new TimeRange(from, to);
  };
  return field(
    options,
    { type: 'string', pattern: '^[^,]{1,64},[^,]{1,64}$', maxLength: 129 },
    {
      rule: {
        name: 'isRange',
        validate: (value) => parse(value) !== undefined,
        must: 'must be two RFC 3339 date-times with a comma between, the earlier one first',
      },
      convert: parse,
    },
  );
}

export interface TextOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** Describes the value in messages, `must be …`. With a pattern it also describes the length. */
  readonly form?: string;
  readonly format?: string;
  /** Name of the rule in violations, if the default one would mislead. */
  readonly rule?: RuleName;
  readonly values?: readonly string[];
  /** A condition that a pattern cannot express. */
  readonly check?: (value: string) => boolean;
}

/** Text whose length counts Unicode code points (decision 8). */
export function TextField(options: TextOptions): PropertyDecorator {
  const { min = 0, max = Number.POSITIVE_INFINITY, pattern } = options;
  const values = options.values === undefined ? undefined : new Set(options.values);
  const length = lengthInWords(min, max);
  return field(
    options,
    {
      type: 'string',
      ...(min === 0 ? {} : { minLength: min }),
      maxLength: Math.min(max, DOCUMENTED_MAX),
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
      ...(options.format === undefined ? {} : { format: options.format }),
      ...(options.values === undefined ? {} : { enum: [...options.values] }),
    },
    {
      rule: {
        name: options.rule ?? ruleName(pattern, length),
        validate: (value) => {
          if (typeof value !== 'string' || !isStorableText(value)) return false;
          if (!hasLength(value, min, max) || values?.has(value) === false) return false;
          if (pattern !== undefined && !pattern.test(value)) return false;
          return options.check === undefined || options.check(value);
        },
        isTextRule: true,
        must: `must be ${options.form ?? 'text'}${options.form !== undefined && pattern !== undefined ? '' : length}`,
      },
    },
  );
}

/** A name: text with at least one visible character. */
export function NameField(options: FieldOptions & { readonly max: number }): PropertyDecorator {
  const description = `${options.description}; not blank`;
  const check = (value: string) => !isBlank(value);
  return TextField({ ...options, description, min: 1, check, form: 'text that is not blank,' });
}

export function EnumField(options: FieldOptions & { readonly values: readonly string[] }): PropertyDecorator {
  const allowed = new Set<unknown>(options.values);
  const must = `must be one of ${options.values.join(', ')}`;
  return field(
    options,
    { type: 'string', enum: [...options.values, ...(options.nullable === true ? [null] : [])] },
    { rule: { name: 'isEnum', validate: (value) => allowed.has(value), must } },
  );
}

/** Any version of a UUID in either case, converted to lower case (decision 6). */
export function UuidField(options: FieldOptions): PropertyDecorator {
  return field(
    options,
    { type: 'string', format: 'uuid', maxLength: 36 },
    {
      rule: {
        name: 'isUuid',
        validate: (value) => typeof value === 'string' && isUuid(value),
        must: 'must be a UUID such as 3f2b8c1e-5d4a-4f6b-9c7d-8e9f0a1b2c3d',
      },
      convert: (value) => (value as string).toLowerCase(),
    },
  );
}

/** UTF-16 units bound the code points from both sides, so most texts need no counting. */
function hasLength(value: string, min: number, max: number): boolean {
  if (value.length <= max && value.length >= min * 2) return true;
  const count = codePoints(value);
  return count >= min && count <= max;
}

function lengthInWords(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '' : ` of at least ${min} characters`;
  return min === 0 ? ` of at most ${max} characters` : ` of ${min} to ${max} characters`;
}

function ruleName(pattern: RegExp | undefined, length: string): RuleName {
  if (pattern !== undefined) return 'matches';
  return length === '' ? 'isString' : 'isLength';
}
