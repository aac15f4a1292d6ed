import { Transform } from 'class-transformer';
import { field, type FieldOptions } from './field.js';

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

/** What a text says that is a whole number; what is none stays, to be refused. */
export function integerIn(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
}

export interface IntegerOptions extends FieldOptions {
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  readonly inQuery?: boolean;
  /** In a query: any larger number is read as `max`. */
  readonly orMore?: boolean;
}

export function IntegerField(options: IntegerOptions): PropertyDecorator {
  const { min, max } = options;
  const orMore = options.orMore === true;
  const read = (value: unknown) => {
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
      name: 'isInteger',
      validate: (value) => {
        const number = read(value);
        return Number.isInteger(number) && (number as number) >= min && (number as number) <= max;
      },
      must: orMore ? `must be a whole number from ${min}` : `must be a whole number from ${min} to ${max}`,
    },
    Transform(({ value }) => read(value)),
  );
}
