import { type Instant, parseInstant } from '../instant.js';
import { field, type FieldOptions } from './field.js';

interface QueryFieldOptions extends FieldOptions {
  /** The value arrives as text. */
  readonly inQuery?: boolean;
}

/** Converts `true` and `false`; returns any other value as it is, for validation to refuse. */
export function booleanIn(value: unknown): unknown {
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
export function integerIn(value: unknown): unknown {
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
      lastInstant = parseInstant(options.inQuery === true ? value.replace(/ (?=\d\d:\d\d$)/, '+') : value);
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
