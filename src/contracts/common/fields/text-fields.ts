import { Transform } from 'class-transformer';
import { codePoints, isBlank, isStorableText, isUuid } from '../text.js';
import { DOCUMENTED_MAX, field, type FieldOptions } from './field.js';

export interface TextOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** Stands in the sentence in place of the pattern, and then says the length too: `must be …`. */
  readonly form?: string;
  readonly format?: string;
  /** The only texts that it may be. */
  readonly values?: readonly string[];
  /** What a pattern cannot say. */
  readonly check?: (value: string) => boolean;
}

function lengthInWords(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '' : ` of at least ${min} characters`;
  return min === 0 ? ` of at most ${max} characters` : ` of ${min} to ${max} characters`;
}

function ruleName(pattern: RegExp | undefined, length: string): string {
  if (pattern !== undefined) return 'matches';
  return length === '' ? 'isString' : 'isLength';
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
      name: ruleName(pattern, length),
      validate: (value) => {
        if (typeof value !== 'string' || !isStorableText(value)) return false;
        if (value.length > max || value.length < min * 2) {
          const count = codePoints(value);
          if (count < min || count > max) return false;
        }
        if (values?.has(value) === false) return false;
        return (pattern === undefined || pattern.test(value)) && (options.check === undefined || options.check(value));
      },
      isOfText: true,
      must: `must be ${options.form ?? 'text'}${options.form !== undefined && pattern !== undefined ? '' : length}`,
    },
  );
}

/** A name, for people or of a partner's: text in which there is something to see. */
export function NameField(options: FieldOptions & { readonly max: number }): PropertyDecorator {
  const description = `${options.description}; not blank`;
  const check = (value: string) => !isBlank(value);
  return TextField({ ...options, description, min: 1, check, form: 'text that is not blank,' });
}

export function EnumField(options: FieldOptions & { readonly values: readonly string[] }): PropertyDecorator {
  const allowed = new Set<unknown>(options.values);
  return field(
    options,
    { type: 'string', enum: [...options.values] },
    { name: 'isEnum', validate: (value) => allowed.has(value), must: `must be one of ${options.values.join(', ')}` },
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
