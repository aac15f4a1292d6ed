import type { OpenAPIObject } from '@nestjs/swagger';
import { ErrorBody, PlainErrorBody } from '../contracts/common/error-body.dto.js';
import { fieldsOf } from '../contracts/common/fields/documented.js';
import type { DtoClass } from '../contracts/common/fields/field.js';

export type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

/** The options of a field, as far as they are no part of its schema. */
interface Facts {
  readonly type?: unknown;
  readonly isArray?: boolean;
  readonly required?: unknown;
  readonly enum?: unknown;
  readonly nullable?: boolean;
}

/** A field of a class: its name, its schema, and whether it is required. */
export interface DocumentedField {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** The schemas of one document: a class, and each class that its fields refer to, once, by its name. */
export class Schemas {
  private readonly schemas = new Map<DtoClass, Schema>();

  /** `codes` are the closed set of the interface: the class of an error body serves all interfaces (section 7). */
  constructor(private readonly codes: readonly string[]) {}

  /** Throws if two classes have one name. */
  get all(): Record<string, Schema> {
    const entries = [...this.schemas].map(([{ name }, schema]) => [name, schema] as const);
    const all = Object.fromEntries(entries);
    if (Object.keys(all).length < entries.length) throw new Error('two classes of the document have one name');
    return all;
  }

  refer(type: DtoClass): { $ref: string } {
    if (!this.schemas.has(type)) {
      // Before its fields: they may lead back to it.
      this.schemas.set(type, {});
      const fields = this.fieldsOf(type);
      const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
      this.schemas.set(type, {
        type: 'object',
        properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
        ...(required.length === 0 ? {} : { required }),
      });
    }
    return { $ref: `#/components/schemas/${type.name}` };
  }

  fieldsOf(type: DtoClass): DocumentedField[] {
    return [...fieldsOf(type)].map(([name, facts]) => ({
      name,
      schema: this.schemaOf(type, name, facts as Facts),
      isRequired: facts.required !== false,
    }));
  }

  private schemaOf(type: DtoClass, name: string, { type: given, isArray, required: _, ...facts }: Facts): Schema {
    const nested = classOf(given);
    if (nested === undefined) {
      const isCode = name === 'code' && (type === ErrorBody || type === PlainErrorBody);
      const known = {
        ...facts,
        ...typeOf(given, type, name, facts),
        ...(isCode ? { enum: this.codes } : {}),
      } as Schema;
      return isArray === true ? listOf(known) : known;
    }
    if (nested.isArray || isArray === true)
      return { ...facts, type: 'array', items: this.refer(nested.type) } as Schema;
    const nullable = facts.nullable === true ? { type: 'object' } : {};
    return { ...facts, ...nullable, allOf: [this.refer(nested.type)] } as Schema;
  }
}

/** The class of an object, or of the elements of a list. A lazy type is an arrow function, which has no prototype. */
function classOf(given: unknown): { readonly type: DtoClass; readonly isArray: boolean } | undefined {
  if (typeof given !== 'function') return undefined;
  const found: unknown = given.prototype === undefined ? (given as () => unknown)() : given;
  const isArray = Array.isArray(found);
  const type = (isArray ? found[0] : found) as DtoClass;
  return fieldsOf(type).size === 0 ? undefined : { type, isArray };
}

/** By default the type that the class declares. */
function typeOf(given: unknown, type: DtoClass, name: string, facts: object): { readonly type?: string } {
  if (typeof given === 'string') return { type: given };
  if ('oneOf' in facts || 'anyOf' in facts) return {};
  const declared = Reflect.getMetadata('design:type', type.prototype as object, name) as { readonly name: string };
  return { type: declared.name.toLowerCase() };
}

/** What is said of each value belongs to the elements. */
function listOf(schema: Schema): Schema {
  const { type, enum: values, ...facts } = schema as Facts;
  return { ...facts, type: 'array', items: { type, enum: values } } as Schema;
}
