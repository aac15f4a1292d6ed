import { Transform } from 'class-transformer';
import { type Instant, parseInstant } from '../instant.js';
import { field, type FieldOptions } from './field.js';

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
