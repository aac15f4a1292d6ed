import { Transform } from 'class-transformer';
import { field, type FieldOptions } from './field.js';

/** What a text says that is a boolean; what is none stays, to be refused. */
export function booleanIn(value: unknown): unknown {
  if (value === 'true') return true;
  return value === 'false' ? false : value;
}

export function BooleanField(options: FieldOptions & { readonly inQuery?: boolean }): PropertyDecorator {
  const read = (value: unknown) => (options.inQuery === true ? booleanIn(value) : value);
  return field(
    options,
    { type: 'boolean' },
    { name: 'isBoolean', validate: (value) => typeof read(value) === 'boolean', must: 'must be true or false' },
    Transform(({ value }) => read(value)),
  );
}
