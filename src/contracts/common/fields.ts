import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateNested } from 'class-validator';
import { type Instant, parseInstant } from './instant.js';
import { codePoints, isStorableText, isUuid } from './text.js';

/**
 * The decorators of a DTO's fields. Each is the field's one definition: it validates (class-validator), converts
 * (class-transformer) and documents (OpenAPI). `null` counts as absent where a field is optional (decision 5).
 */
export interface FieldOptions {
  readonly description: string;
  readonly example?: unknown;
  readonly optional?: boolean;
  readonly deprecated?: boolean;
  /** In answers: always there, and `null` where there is nothing to tell. */
  readonly nullable?: boolean;
}

/** Told where only the size of the whole body bounds a field. */
const DOCUMENTED_MAX = 1_048_576;

interface Rule {
  readonly name: string;
  readonly validate: (value: unknown) => boolean;
  /** What follows the field's path in a violation's sentence. */
  readonly must: string;
}

function field(
  options: FieldOptions,
  schema: ApiPropertyOptions,
  rule: Rule,
  ...more: PropertyDecorator[]
): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      ...schema,
      description: options.description,
      required: options.optional !== true,
      ...(options.example === undefined ? {} : { example: options.example }),
      ...(options.deprecated === true ? { deprecated: true } : {}),
      ...(options.nullable === true ? { nullable: true } : {}),
    } as ApiPropertyOptions),
    ...(options.optional === true ? [IsOptional()] : []),
    ValidateBy({ name: rule.name, validator: { validate: rule.validate, defaultMessage: () => rule.must } }),
    ...more,
  );
}

export interface TextOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** Stands in the sentence in place of the pattern, and then says the length too: `must be …`. */
  readonly form?: string;
  readonly format?: string;
  /** What a pattern cannot say. */
  readonly check?: (value: string) => boolean;
}

/** Text whose length counts Unicode code points (decision 8). */
export function TextField(options: TextOptions): PropertyDecorator {
  const { min = 0, max = Number.POSITIVE_INFINITY, pattern } = options;
  const length =
    max === Number.POSITIVE_INFINITY
      ? min === 0
        ? ''
        : ` of at least ${min} characters`
      : min === 0
        ? ` of at most ${max} characters`
        : ` of ${min} to ${max} characters`;
  return field(
    options,
    {
      type: 'string',
      ...(min === 0 ? {} : { minLength: min }),
      maxLength: Math.min(max, DOCUMENTED_MAX),
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
      ...(options.format === undefined ? {} : { format: options.format }),
    },
    {
      name: pattern === undefined && length === '' ? 'isString' : pattern === undefined ? 'isLength' : 'matches',
      validate: (value) => {
        if (typeof value !== 'string' || !isStorableText(value)) return false;
        if (value.length > max || value.length < min * 2) {
          const count = codePoints(value);
          if (count < min || count > max) return false;
        }
        return (pattern === undefined || pattern.test(value)) && (options.check === undefined || options.check(value));
      },
      must: `must be ${options.form ?? 'text'}${options.form !== undefined && pattern !== undefined ? '' : length}`,
    },
  );
}

/** Any version of a UUID, either case; read as lower case (decision 6). */
export function UuidField(options: FieldOptions): PropertyDecorator {
  return field(
    options,
    { type: 'string', format: 'uuid', maxLength: 36 },
    {
      name: 'isUuid',
      validate: (value) => typeof value === 'string' && isUuid(value),
      must: 'must be a UUID such as 3f2b8c1e-5d4a-4f6b-9c7d-8e9f0a1b2c3d',
    },
    Transform(({ value }) => (value as string).toLowerCase()),
  );
}

/** An RFC 3339 date-time with an offset; read as an `Instant`. In a query a `+` may have arrived as a blank (decision 7). */
export function InstantField(options: FieldOptions & { readonly inQuery?: boolean }): PropertyDecorator {
  let lastText: string | undefined;
  let lastInstant: Instant | undefined;
  // Asked twice for each value, to check it and to convert it.
  const parse = (value: unknown) => {
    if (typeof value !== 'string') return undefined;
    if (value !== lastText) {
      lastText = value;
      lastInstant = parseInstant(options.inQuery === true ? value.replace(/ (?=\d\d:\d\d$)/, '+') : value);
    }
    return lastInstant;
  };
  return field(
    options,
    { type: 'string', format: 'date-time', maxLength: 64 },
    {
      name: 'isInstant',
      validate: (value) => parse(value) !== undefined,
      must: 'must be an RFC 3339 date-time with an offset, such as 2026-01-31T08:30:00Z',
    },
    Transform(({ value }) => parse(value)),
  );
}

/** Any finite IEEE double (decision 25). */
export function NumberField(options: FieldOptions): PropertyDecorator {
  return field(
    options,
    { type: 'number', format: 'double' },
    {
      name: 'isNumber',
      validate: (value) => typeof value === 'number' && Number.isFinite(value),
      must: 'must be a finite number',
    },
  );
}

export interface IntegerOptions extends FieldOptions {
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  readonly inQuery?: boolean;
}

export function IntegerField(options: IntegerOptions): PropertyDecorator {
  const { min, max } = options;
  const read = (value: unknown) =>
    options.inQuery === true && typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
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
      name: 'isInteger',
      validate: (value) => {
        const number = read(value);
        return Number.isInteger(number) && (number as number) >= min && (number as number) <= max;
      },
      must: `must be a whole number from ${min} to ${max}`,
    },
    Transform(({ value }) => read(value)),
  );
}

export function BooleanField(options: FieldOptions & { readonly inQuery?: boolean }): PropertyDecorator {
  const read = (value: unknown) =>
    options.inQuery === true ? (value === 'true' ? true : value === 'false' ? false : value) : value;
  return field(
    options,
    { type: 'boolean' },
    { name: 'isBoolean', validate: (value) => typeof read(value) === 'boolean', must: 'must be true or false' },
    Transform(({ value }) => read(value)),
  );
}

export function EnumField(options: FieldOptions & { readonly values: readonly string[] }): PropertyDecorator {
  const allowed = new Set<unknown>(options.values);
  return field(
    options,
    { type: 'string', enum: [...options.values] },
    { name: 'isEnum', validate: (value) => allowed.has(value), must: `must be one of ${options.values.join(', ')}` },
  );
}

const isPlainObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

export function ObjectField(type: () => new () => object, options: FieldOptions): PropertyDecorator {
  return field(
    options,
    // Nest knows a lazy type by its name, `type`.
    { type: () => type() },
    { name: 'isObject', validate: isPlainObject, must: 'must be an object' },
    Type(type),
    ValidateNested(),
  );
}

export interface ListOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
}

function listRule(options: ListOptions, what: string, element: (value: unknown) => boolean): Rule {
  const { min = 0, max = Number.POSITIVE_INFINITY } = options;
  const size = max === Number.POSITIVE_INFINITY ? (min === 0 ? '' : `at least ${min} `) : `${min} to ${max} `;
  return {
    name: 'isArray',
    validate: (value) => Array.isArray(value) && value.length >= min && value.length <= max && value.every(element),
    must: `must be an array of ${size}${what}`,
  };
}

const bounds = (options: ListOptions) => ({
  ...(options.min === undefined ? {} : { minItems: options.min }),
  maxItems: options.max ?? DOCUMENTED_MAX,
});

const listSchema = (options: ListOptions): ApiPropertyOptions => ({ isArray: true, ...bounds(options) });

/** An array of objects, each validated under its own path, `materials[2].quantity`. */
export function ArrayField(type: () => new () => object, options: ListOptions): PropertyDecorator {
  return field(
    options,
    { ...listSchema(options), type: () => type() } as ApiPropertyOptions,
    listRule(options, 'elements', () => true),
    Type(type),
    ValidateNested({ each: true }),
  );
}

export function TextListField(options: ListOptions & { readonly maxLength: number }): PropertyDecorator {
  return field(
    options,
    {
      type: 'array',
      items: { type: 'string', minLength: 1, maxLength: options.maxLength },
      ...bounds(options),
    },
    listRule(
      options,
      `texts of 1 to ${options.maxLength} characters`,
      (value) =>
        typeof value === 'string' && isStorableText(value) && value !== '' && codePoints(value) <= options.maxLength,
    ),
  );
}

export function EnumListField(options: ListOptions & { readonly values: readonly string[] }): PropertyDecorator {
  const allowed = new Set<unknown>(options.values);
  return field(
    options,
    { ...listSchema(options), type: 'string', enum: [...options.values] } as ApiPropertyOptions,
    listRule(options, `different values of ${options.values.join(', ')}`, (value) => allowed.has(value)),
  );
}

/** A fault inside a value that is no DTO of its own, such as one entry of a map. */
export interface InnerFault {
  readonly key: string;
  readonly must: string;
}

/** Among a rule's class-validator `constraints`: says which of a value's entries are wrong, so that each gets its own path. */
export interface EntryFaults {
  readonly faults: (value: unknown) => InnerFault[];
}

export interface TextMapOptions extends FieldOptions {
  readonly maxEntries: number;
  readonly maxName: number;
  readonly maxValue: number;
}

/** A map whose values are all text; `null` is no text, even here where absent fields are (decision 5). */
export function TextMapField(options: TextMapOptions): PropertyDecorator {
  const { maxEntries, maxName, maxValue } = options;
  const faults = (value: unknown): InnerFault[] =>
    Object.entries(value as object).flatMap(([key, entry]) => {
      if (!isStorableText(key) || codePoints(key) > maxName)
        return [{ key, must: `must have a name of at most ${maxName} characters` }];
      if (typeof entry !== 'string' || !isStorableText(entry) || codePoints(entry) > maxValue) {
        return [{ key, must: `must be text of at most ${maxValue} characters` }];
      }
      return [];
    });
  const isMap = (value: unknown) => isPlainObject(value) && Object.keys(value as object).length <= maxEntries;
  const entries: EntryFaults = { faults: (value) => (isMap(value) ? faults(value) : []) };
  return applyDecorators(
    ApiProperty({
      type: 'object',
      additionalProperties: { type: 'string', maxLength: maxValue },
      maxProperties: maxEntries,
      description: options.description,
      selfRequired: options.optional !== true,
      example: options.example,
    }),
    ...(options.optional === true ? [IsOptional()] : []),
    ValidateBy({
      name: 'isTextMap',
      constraints: [entries],
      validator: {
        validate: (value: unknown) => isMap(value) && faults(value).length === 0,
        defaultMessage: () => `must be an object of at most ${maxEntries} texts`,
      },
    }),
  );
}
