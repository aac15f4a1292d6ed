import fc from 'fast-check';

/** What of OpenAPI's schemas our documents use. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** Values that a field of some name should often have, so that what is known is asked for too. */
export type Known = Readonly<Record<string, readonly string[]>>;

const LONGEST = 300;

/** Makes values of what an OpenAPI document says: mostly short, sometimes as long as allowed. */
export class Arbitraries {
  constructor(
    private readonly document: OpenApiDocument,
    private readonly known: Known,
  ) {}

  of(schema: Schema, name = ''): fc.Arbitrary<unknown> {
    const resolved = this.resolve(schema);
    const known = this.known[name];
    const free = this.free(resolved);
    return known === undefined || known.length === 0
      ? free
      : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: free });
  }

  private resolve(schema: Schema): Schema {
    if (schema.allOf !== undefined) return schema.allOf.map((part) => this.resolve(part)).reduce(merged, schema);
    if (schema.$ref === undefined) return schema;
    const found = this.document.components.schemas[schema.$ref.split('/').at(-1) ?? ''];
    if (found === undefined) throw new Error(`the document lacks ${schema.$ref}`);
    return this.resolve(found);
  }

  private free(schema: Schema): fc.Arbitrary<unknown> {
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    switch (schema.type) {
      case 'string':
        return text(schema);
      case 'integer':
        return fc.integer({ min: schema.minimum ?? -1000, max: Math.min(schema.maximum ?? 1000, 2 ** 31 - 1) });
      case 'number':
        return fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer());
      case 'boolean':
        return fc.boolean();
      case 'array':
        return fc.array(this.of(schema.items ?? {}), {
          minLength: schema.minItems ?? 0,
          maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? 4, 4)),
        });
      default:
        return this.object(schema);
    }
  }

  private object({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
    if (typeof additionalProperties === 'object') {
      return fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 20 }), this.of(additionalProperties), {
        maxKeys: 5,
      });
    }
    const fields = Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        required.includes(name) ? this.of(schema, name) : fc.option(this.of(schema, name), { nil: undefined }),
      ]),
    );
    return fc.record(fields).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  }
}

function merged(a: Schema, b: Schema): Schema {
  return {
    ...a,
    ...b,
    properties: { ...a.properties, ...b.properties },
    required: [...(a.required ?? []), ...(b.required ?? [])],
  };
}

function text({ format, pattern, minLength = 0, maxLength = LONGEST }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid')
    return fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
    );
  if (format === 'date-time') return instant();
  if (format === 'email') return fc.emailAddress().filter((address) => address.length <= maxLength);
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { maxLength: Math.min(maxLength, 40) });
  const most = Math.min(maxLength, LONGEST);
  const of = (unit: 'grapheme' | 'grapheme-ascii' | fc.Arbitrary<string>, max: number) =>
    fc.string({ unit, minLength, maxLength: Math.max(minLength, max) });
  return fc
    .oneof(of('grapheme-ascii', Math.min(most, 20)), of('grapheme', Math.min(most, 10)), of(anyCharacter(), most))
    .filter((value) => [...value].length <= maxLength);
}

/** Any character but the halves of pairs. fast-check's own `binary` first makes a table of all, which takes seconds. */
export const anyCharacter = (): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max: 0x10ffff - 0x800 }).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

const instant = (): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.date({ min: new Date('1900-01-01T00:00:00Z'), max: new Date('2200-01-01T00:00:00Z'), noInvalidDate: true }),
      fc.constantFrom('Z', 'z', '+00:00', '-05:00', '+14:00'),
      fc.constantFrom('', '123', '000001'),
    )
    .map(([date, zone, micro]) => date.toISOString().replace('Z', micro) + zone);
