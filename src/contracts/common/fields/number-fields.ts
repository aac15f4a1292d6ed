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
