import 'reflect-metadata';
import { Expose, Transform, Type } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateNested } from 'class-validator';
import { isJsonObject } from '../json.js';
import { type DtoClass, type FieldPlan, lineageOf, ownFieldsOf } from './field.js';

const validated = new Set<DtoClass>();

/**
 * Registers the fields of a class, and of the classes in it, with class-validator and class-transformer, once. Only what is
 * read is registered: no answer of this service is validated.
 */
export function withValidation<T extends object>(type: DtoClass<T>): DtoClass<T> {
  for (const each of lineageOf<DtoClass>(type)) {
    if (validated.has(each)) continue;
    validated.add(each);
    for (const [name, { plan }] of ownFieldsOf(each)) {
      if (plan.nested !== undefined) withValidation(plan.nested.type);
      for (const decorate of decoratorsOf(plan)) decorate(each.prototype as object, name);
    }
  }
  return type;
}

/** `null` counts as absent where a field is optional (decision 5). */
function decoratorsOf({ isOptional, checks, convert, nested }: FieldPlan): PropertyDecorator[] {
  const isValid = (value: unknown) => checks.every(({ faults }) => faults(value).length === 0);
  // class-validator takes an element of a list that is null for a valid one.
  const hasObjects = (value: unknown) => nested?.isArray !== true || (value as unknown[]).every(isJsonObject);
  /** class-transformer converts before class-validator checks: an invalid value stays as it is. Converting twice changes nothing. */
  const converted = (value: unknown): unknown => {
    if (value === null && isOptional) return undefined;
    return convert === undefined || !isValid(value) ? value : convert(value);
  };
  return [
    ...(isOptional ? [IsOptional()] : []),
    ValidateBy({ name: 'field', validator: { validate: (value) => isValid(value) && hasObjects(value) } }),
    // Without this, class-transformer copies what is in an unknown field, however large it is.
    Expose(),
    ...(nested === undefined
      ? // With its own type class-transformer would copy a map, and take an entry named `constructor` for its class.
        [Type(() => Object), Transform(({ obj, key }) => converted((obj as Record<string, unknown>)[key]))]
      : [
          Transform(({ value }) => converted(value)),
          Type(() => nested.type),
          ValidateNested({ each: nested.isArray }),
        ]),
  ];
}
