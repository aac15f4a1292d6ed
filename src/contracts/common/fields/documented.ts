import type { ApiPropertyOptions } from '@nestjs/swagger';

/** The OpenAPI schema of a field, and whether it is required. */
export type FieldSchema = ApiPropertyOptions;

/** A class, also an abstract one. */
interface AnyClass {
  readonly prototype: object;
}

const documented = new Map<AnyClass, Map<string, FieldSchema>>();

/**
 * Registers the OpenAPI schema of a field. The contracts do not load @nestjs/swagger: `src/docs` passes the
 * registered schemas to it, and the command line reads them directly.
 */
export function Documented(schema: FieldSchema): PropertyDecorator {
  return (prototype, name) => {
    const type = prototype.constructor;
    const fields = documented.get(type) ?? new Map<string, FieldSchema>();
    documented.set(type, fields.set(String(name), schema));
  };
}

/** The classes with documented fields, each base class before the classes that extend it. */
export function documentedClasses(): ReadonlyMap<AnyClass, ReadonlyMap<string, FieldSchema>> {
  return documented;
}

/** The fields of a class, its base class's first. A class that declares a field again replaces its schema. */
export function fieldsOf(type: AnyClass): ReadonlyMap<string, FieldSchema> {
  const base: unknown = Object.getPrototypeOf(type);
  const inherited = typeof base === 'function' && base !== Function.prototype ? fieldsOf(base) : [];
  return new Map([...inherited, ...(documented.get(type) ?? [])]);
}
