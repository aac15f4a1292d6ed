import { isJsonObject } from '../json.js';
import { codePoints, isBlank, isStorableText, STORABLE_TEXT } from '../text.js';
import type { FieldSchema } from './documented.js';
import { type Check, type DtoClass, type Fault, faultOf, field, type FieldOptions, type Rule } from './field.js';

export function ObjectField(type: () => DtoClass, options: FieldOptions): PropertyDecorator {
  return field(
    options,
    // Nest recognises a lazy type by the name of the arrow function, `type`.
    { type: () => type() },
    {
      rule: { name: 'isObject', validate: isJsonObject, must: 'must be an object' },
      nested: { type, isArray: false },
    },
  );
}

export interface ListOptions extends FieldOptions {
  readonly min?: number;
  readonly max?: number;
}

/** An array of objects, each validated under its own path, `materials[2].quantity`. */
export function ArrayField(type: () => DtoClass, options: ListOptions): PropertyDecorator {
  return field(options, { ...arraySchema(options), type: () => type() } as FieldSchema, {
    rule: arrayRule(options, 'elements'),
    nested: { type, isArray: true },
  });
}

/** An array of text that is not blank. */
export function TextListField(options: ListOptions & { readonly maxLength: number }): PropertyDecorator {
  const { maxLength } = options;
  return field(
    options,
    { type: 'array', items: { type: 'string', minLength: 1, maxLength }, ...bounds(options) },
    {
      rule: arrayRule(options, `texts that are not blank, of 1 to ${maxLength} characters`),
      entries: elementCheck({
        name: 'isLength',
        validate: (value) =>
          typeof value === 'string' && isStorableText(value) && !isBlank(value) && codePoints(value) <= maxLength,
        isTextRule: true,
        must: `must be text that is not blank, of 1 to ${maxLength} characters`,
      }),
    },
  );
}

export function EnumListField(options: ListOptions & { readonly values: readonly string[] }): PropertyDecorator {
  const allowed = new Set<unknown>(options.values);
  const names = options.values.join(', ');
  return field(options, { ...arraySchema(options), type: 'string', enum: [...options.values] } as FieldSchema, {
    rule: {
      ...arrayRule(options, ''),
      // Without the maximum: it is larger than the number of values, because repeated values are allowed.
      must: `must be an array of ${(options.min ?? 0) === 0 ? '' : `at least ${options.min} of `}${names}`,
    },
    entries: elementCheck({
      name: 'isEnum',
      validate: (value) => allowed.has(value),
      must: `must be one of ${names}`,
    }),
  });
}

export interface TextMapOptions extends FieldOptions {
  readonly maxEntries: number;
  readonly maxName: number;
  readonly maxValue: number;
}

/** A map of text values. `null` is invalid here, although it counts as absent for a field (decision 5). */
export function TextMapField(options: TextMapOptions): PropertyDecorator {
  const { maxEntries, maxName, maxValue } = options;
  const faults = (value: unknown): Fault[] =>
    Object.entries(value as object).flatMap(([key, entry]) => {
      if (!isStorableText(key)) return [{ key, rule: 'isText', must: `must have a name that is ${STORABLE_TEXT}` }];
      if (codePoints(key) > maxName) return [{ key, must: `must have a name of at most ${maxName} characters` }];
      if (typeof entry !== 'string' || !isStorableText(entry) || codePoints(entry) > maxValue) {
        const must = `must be text of at most ${maxValue} characters`;
        return [{ ...faultOf({ must, isTextRule: true }, entry), key }];
      }
      return [];
    });
  return field(
    options,
    { type: 'object', additionalProperties: { type: 'string', maxLength: maxValue }, maxProperties: maxEntries },
    {
      // Checks the size first, so that the entries of an oversized map are not read.
      rule: {
        name: 'isTextMap',
        validate: (value) => isJsonObject(value) && Object.keys(value).length <= maxEntries,
        must: `must be an object of at most ${maxEntries} texts`,
      },
      entries: { name: 'isTextMap', faults },
    },
  );
}

function arrayRule(options: ListOptions, elements: string): Rule {
  const { min = 0, max = Number.POSITIVE_INFINITY } = options;
  const size = max === Number.POSITIVE_INFINITY ? (min === 0 ? '' : `at least ${min} `) : `${min} to ${max} `;
  return {
    name: 'isArray',
    validate: (value) => Array.isArray(value) && value.length >= min && value.length <= max,
    must: `must be an array of ${size}${elements}`,
  };
}

const bounds = (options: ListOptions) => ({
  ...(options.min === undefined ? {} : { minItems: options.min }),
  ...(options.max === undefined ? {} : { maxItems: options.max }),
});

const arraySchema = (options: ListOptions): FieldSchema => ({ isArray: true, ...bounds(options) });

/** Reports each element under its own path, `aliases[2]`. */
function elementCheck(rule: Rule): Check {
  return {
    name: rule.name,
    faults: (value) =>
      (value as unknown[]).flatMap((element, key) =>
        rule.validate(element) ? [] : [{ ...faultOf(rule, element), key }],
      ),
  };
}
