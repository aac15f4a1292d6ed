import type { ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { codePoints, isBlank, isStorableText } from '../text.js';
import { DOCUMENTED_MAX, entriesRuled, faultOf, field, type FieldOptions, type Rule } from './field.js';

export interface ListOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
}

function listRule(options: ListOptions, what: string): Rule {
  const { min = 0, max = Number.POSITIVE_INFINITY } = options;
  const size = max === Number.POSITIVE_INFINITY ? (min === 0 ? '' : `at least ${min} `) : `${min} to ${max} `;
  return {
    name: 'isArray',
    validate: (value) => Array.isArray(value) && value.length >= min && value.length <= max,
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
    listRule(options, 'elements'),
    Type(type),
    ValidateNested({ each: true }),
  );
}

/** Holds each element to a rule, under its own path, `aliases[2]`. */
const eachElement = (rule: Rule): PropertyDecorator =>
  entriesRuled(rule.name, (value) =>
    (value as unknown[]).flatMap((element, key) =>
      rule.validate(element) ? [] : [{ ...faultOf(rule, element), key }],
    ),
  );

/** Texts that are not blank, as names are not. */
export function TextListField(options: ListOptions & { readonly maxLength: number }): PropertyDecorator {
  const { maxLength } = options;
  return field(
    options,
    { type: 'array', items: { type: 'string', minLength: 1, maxLength }, ...bounds(options) },
    listRule(options, `texts that are not blank, of 1 to ${maxLength} characters`),
    eachElement({
      name: 'isLength',
      validate: (value) =>
        typeof value === 'string' && isStorableText(value) && !isBlank(value) && codePoints(value) <= maxLength,
      isOfText: true,
      must: `must be text that is not blank, of 1 to ${maxLength} characters`,
    }),
  );
}

export function EnumListField(options: ListOptions & { readonly values: readonly string[] }): PropertyDecorator {
  const allowed = new Set<unknown>(options.values);
  const names = options.values.join(', ');
  return field(
    options,
    { ...listSchema(options), type: 'string', enum: [...options.values] } as ApiPropertyOptions,
    {
      ...listRule(options, ''),
      // How many are let in is more than there are: a repeated value counts for nothing, and is no fault.
      must: `must be an array of ${(options.min ?? 0) === 0 ? '' : `at least ${options.min} of `}${names}`,
    },
    eachElement({ name: 'isEnum', validate: (value) => allowed.has(value), must: `must be one of ${names}` }),
  );
}
