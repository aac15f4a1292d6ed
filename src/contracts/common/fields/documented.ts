import type { ApiPropertyOptions } from '@nestjs/swagger';
import type { FieldPlan } from './field.js';

/** The OpenAPI schema of a field, and whether it is required. */
export type FieldSchema = ApiPropertyOptions;

/** A field of a DTO: what its decorator says of it. */
export interface Field {
  readonly schema: FieldSchema;
  readonly plan: FieldPlan;
}

/** A class, also an abstract one. */
interface AnyClass {
  readonly prototype: object;
}

const NO_FIELDS: ReadonlyMap<string, Field> = new Map();

const registered = new Map<AnyClass, Map<string, Field>>();

/** The decorator that gives a class a field. The contracts load no framework: documents, command line and validation read it here. */
export function field(schema: FieldSchema, plan: FieldPlan): PropertyDecorator {
  return (prototype, name) => {
    const type = prototype.constructor;
    const fields = registered.get(type) ?? new Map<string, Field>();
    registered.set(type, fields.set(String(name), { schema, plan }));
  };
}

/** The fields that a class itself declares. */
export const ownFieldsOf = (type: AnyClass): ReadonlyMap<string, Field> => registered.get(type) ?? NO_FIELDS;

/** A class and its base classes, the most general first. */
export function lineageOf<Type extends AnyClass>(type: Type): Type[] {
  const base: unknown = Object.getPrototypeOf(type);
  return typeof base === 'function' && base !== Function.prototype
    ? [...lineageOf(base as unknown as Type), type]
    : [type];
}

/** The fields of a class, its base class's first. A class that declares a field again replaces its schema. */
export function fieldsOf(type: AnyClass): ReadonlyMap<string, FieldSchema> {
  const fields = lineageOf(type).flatMap((each) => [...ownFieldsOf(each)]);
  return new Map(fields.map(([name, { schema }]) => [name, schema]));
}
