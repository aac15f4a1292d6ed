import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { codePoints, isBlank, isStorableText } from '../text.js';
import { DOCUMENTED_MAX, field, type FieldOptions, type Rule } from './field.js';

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

/** Texts that are not blank, as names are not. */
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
      `texts that are not blank, of 1 to ${options.maxLength} characters`,
      (value) =>
        typeof value === 'string' && isStorableText(value) && !isBlank(value) && codePoints(value) <= options.maxLength,
    ),
  );
}

export function EnumListField(options: ListOptions & { readonly values: readonly string[] }): PropertyDecorator {
  const allowed = new Set<unknown>(options.values);
  return field(options, { ...listSchema(options), type: 'string', enum: [...options.values] } as ApiPropertyOptions, {
    ...listRule(options, '', (value) => allowed.has(value)),
    // How many are let in is more than there are: a repeated value counts for nothing, and is no fault.
    must: `must be an array of ${(options.min ?? 0) === 0 ? '' : `at least ${options.min} of `}${options.values.join(', ')}`,
  });
}
