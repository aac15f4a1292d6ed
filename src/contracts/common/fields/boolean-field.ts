import { Transform } from 'class-transformer';
import { field, type FieldOptions } from './field.js';

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
