import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wholeDocument } from '../../test/support/whole-document.js';

/** A schema of an OpenAPI document, as far as the contracts use it. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly [Schema];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly (string | boolean)[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly default?: number;
  readonly description?: string;
  readonly example?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The document of an interface. It is written before the pages that quote it. */
export const documentOf = (name: string): Document =>
  wholeDocument(
    JSON.parse(readFileSync(join(import.meta.dirname, `../../docs/openapi/${name}.json`), 'utf8')) as Document,
  );

const MAX_LISTED = 12;
/** Longer texts are limited by the size of the body. */
const MAX_TEXT = 100_000;
const number = (value: number) => value.toLocaleString('en-US');
const code = (value: unknown) => `\`${String(value)}\``;

/** One row of a table of fields. */
export interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Resolves the references of the schemas of one interface. */
export class Schemas {
  private readonly used = new Set<string>();
  private readonly all: Readonly<Record<string, Schema>>;

  constructor(name: string) {
    this.all = documentOf(name).components.schemas;
  }

  named(name: string): Schema {
    const schema = this.all[name];
    if (schema === undefined) throw new Error(`no schema ${name}`);
    this.used.add(name);
    return schema;
  }

  /** The schemas that were not read. The error bodies are the same in all interfaces. */
  get unused(): string[] {
    return Object.keys(this.all).filter((name) => !this.used.has(name) && !/^(Plain)?Error/.test(name));
  }

  /** With the properties of the schema that it refers to, and its own description. */
  resolve(schema: Schema): Schema {
    const target = schema.$ref ?? schema.allOf?.[0].$ref;
    if (target === undefined) return schema;
    return { ...this.named(target.replace(/^.*\//, '')), ...schema };
  }

  /** All fields of a schema, those of nested objects by their path. */
  fields(schema: Schema, prefix = ''): Field[] {
    return Object.entries(schema.properties ?? {}).flatMap(([name, declared]) => {
      const field = this.resolve(declared);
      const path = prefix + name;
      const inner = field.items === undefined ? field : this.resolve(field.items);
      const own = { path, schema: field, isRequired: schema.required?.includes(name) ?? false };
      return [own, ...this.fields(inner, field.items === undefined ? `${path}.` : `${path}[].`)];
    });
  }

  /** Made of the examples of the fields. */
  example(declared: Schema): unknown {
    const schema = this.resolve(declared);
    if (schema.example !== undefined) return schema.example;
    if (schema.items !== undefined) return [this.example(schema.items)];
    const entries = Object.entries(schema.properties ?? {}).map(([name, each]) => [name, this.example(each)] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
  }
}

export function typeOf(schema: Schema): string {
  if (schema.enum !== undefined && schema.enum.length <= MAX_LISTED) return schema.enum.map(code).join(', ');
  if (schema.additionalProperties !== undefined) return 'object of texts';
  if (schema.properties !== undefined) return 'object';
  if (schema.type === 'array') return 'array';
  const names: Record<string, string> = { uuid: 'UUID', 'date-time': 'time', uri: 'URL', email: 'e-mail address' };
  const type = schema.type === 'string' ? 'text' : (schema.type ?? 'object');
  return names[schema.format ?? ''] ?? type;
}

export function boundsOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.length <= MAX_LISTED ? '' : `one of ${schema.enum.length} codes`;
  const map = schema.additionalProperties;
  if (map !== undefined) return `${range(0, schema.maxProperties)} entries; ${range(0, map.maxLength)} characters each`;
  if (schema.type === 'array') return suffixed(range(schema.minItems, schema.maxItems), 'elements');
  if (schema.type === 'integer') return range(schema.minimum, schema.maximum);
  if (schema.format === 'uuid' || schema.format === 'date-time') return '';
  const { minLength, maxLength = Infinity } = schema;
  return suffixed(range(minLength, maxLength < MAX_TEXT ? maxLength : Infinity), 'characters');
}

const suffixed = (text: string, noun: string) => (text === '' ? '' : `${text} ${noun}`);

function range(min = 0, max = Infinity): string {
  if (max >= Number.MAX_SAFE_INTEGER) return min === 0 ? '' : `at least ${number(min)}`;
  return min === 0 ? `at most ${number(max)}` : `${number(min)} to ${number(max)}`;
}
