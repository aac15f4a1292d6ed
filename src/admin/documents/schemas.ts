import { kindOf } from '../../contracts/common/api-contract.js';
import type { OpenAPIObject } from '@nestjs/swagger';
import { ErrorBody, PlainErrorBody } from '../../contracts/common/error-body.dto.js';
import { type DtoClass, fieldsOf } from '../../contracts/common/fields/field.js';

type Holder = Record<string, object>;

export interface ShareableOperation {
  parameters: { readonly name: string }[];
  responses: Record<string, { headers: Holder }>;
}

/** A part of an operation, under the name that its component would have. */
interface Place {
  readonly name: string;
  readonly part: string;
  readonly holder: Holder;
  readonly key: string;
}

/**
 * Makes components of the headers, parameters and refusals that several operations have, and puts references in their places.
 * They are two thirds of a document otherwise.
 */
export function shareParts(operations: readonly ShareableOperation[]): Readonly<Record<string, Holder>> {
  const headers = operations.flatMap(({ responses }) => Object.values(responses).map((each) => each.headers));
  const parameters = operations.map((each) => each.parameters as unknown as Holder);
  const responses = operations.map((each) => each.responses as Holder);
  return {
    headers: share('headers', headers, (name) => name),
    parameters: share('parameters', parameters, (_, { name }: { name?: string }) => name),
    responses: share('responses', responses, (status) => kindOf(Number(status))),
  };
}

/** The most frequent part of each name becomes the component; the others stay where they are. */
function share(section: string, holders: readonly Holder[], nameOf: (key: string, part: object) => string | undefined) {
  const places = holders.flatMap((holder) =>
    Object.entries(holder).flatMap(([key, part]): Place[] => {
      const name = nameOf(key, part);
      return name === undefined ? [] : [{ name, part: JSON.stringify(part), holder, key }];
    }),
  );
  const components: Holder = {};
  for (const [name, named] of Map.groupBy(places, (place) => place.name)) {
    const [common = []] = [...Map.groupBy(named, ({ part }) => part).values()].sort((a, b) => b.length - a.length);
    const [first] = common;
    if (first === undefined || common.length === 1) continue;
    components[name] = JSON.parse(first.part) as object;
    for (const { holder, key } of common) holder[key] = { $ref: `#/components/${section}/${name}` };
  }
  return components;
}

type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

/** The schema of a field, but for its type and these. */
interface Facts {
  /** The class of an object, or of the elements of a list. */
  readonly type?: unknown;
  readonly isArray?: boolean;
  readonly required?: unknown;
  readonly enum?: unknown;
  readonly nullable?: boolean;
}

/** A field of a class: its name, its schema, and whether it is required. */
interface DocumentedField {
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

  private schemaOf(type: DtoClass, name: string, { required: _, isArray, type: given, ...options }: Facts): Schema {
    const { enum: allowed, ...facts } = options;
    if (typeof given === 'function') {
      const nested = this.refer(given as DtoClass);
      if (isArray === true) return { ...facts, type: 'array', items: nested };
      return { ...facts, ...(facts.nullable === true ? { type: 'object' } : {}), allOf: [nested] };
    }
    const isCode = name === 'code' && (type === ErrorBody || type === PlainErrorBody);
    const value = { type: given, enum: isCode ? this.codes : allowed };
    return (isArray === true ? { ...facts, type: 'array', items: value } : { ...facts, ...value }) as Schema;
  }
}
