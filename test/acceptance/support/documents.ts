import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { Reply } from '../../support/http.js';
import { wholeDocument } from '../../support/whole-document.js';

export const DOCUMENTS = ['admin', 'partner', 'scale', 'account', 'site', 'vision'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly example?: unknown;
  readonly description?: string;
}

interface Content {
  readonly schema?: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query' | 'header';
    readonly required?: boolean;
    readonly schema: Schema & { readonly format?: string };
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
  readonly 'x-role'?: string;
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** One operation of a published document. */
export interface Operation extends DocumentedOperation {
  readonly document: DocumentName;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** For titles of tests: `GET /admin/v1/tickets`. */
  readonly title: string;
}

const FOLDER = join(import.meta.dirname, '../../../dist/docs');
const documents = new Map(
  DOCUMENTS.map((name) => {
    const text = readFileSync(join(FOLDER, `${name}.json`), 'utf8');
    return [name, wholeDocument(JSON.parse(text) as OpenApiDocument)];
  }),
);

export const OPERATIONS: readonly Operation[] = [...documents].flatMap(([document, { paths }]) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([verb, operation]) => {
      const method = verb.toUpperCase();
      return { ...operation, document, method, path, name: operation.operationId, title: `${method} ${path}` };
    }),
  ),
);

/** Names of the parameters at a place. */
export const parametersOf = ({ parameters = [] }: Operation, place: 'path' | 'query'): string[] =>
  parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);

/** The required parameters of the query, each with its example. */
export const requiredQueryOf = ({ parameters = [] }: Operation): Record<string, string> =>
  Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === 'query' && parameter.required === true)
      .map(({ name, schema }) => [name, schema.example as string]),
  );

/** The first JSON body that the document offers for sending; undefined where the operation takes none. */
export function exampleOf({ document, requestBody }: Operation): unknown {
  const content = requestBody?.content['application/json'];
  if (content === undefined) return undefined;
  const [example] = Object.values(content.examples ?? {});
  return example === undefined ? sampleOf(document, content.schema ?? {}) : example.value;
}

/** As Swagger UI makes it: all fields, each with its example. */
function sampleOf(name: DocumentName, { $ref, allOf, example, properties, items }: Schema): unknown {
  if (example !== undefined) return example;
  if ($ref !== undefined) {
    return sampleOf(name, documents.get(name)?.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});
  }
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((part) => sampleOf(name, part))) as object;
  if (items !== undefined) return [sampleOf(name, items)];
  return Object.fromEntries(Object.entries(properties ?? {}).map(([key, part]) => [key, sampleOf(name, part)]));
}

/** The columns that the document names for a list as CSV; undefined where the list has no such form. */
export function columnsOf({ responses }: Operation): string[] | undefined {
  const description = responses['200']?.content?.['text/csv']?.schema?.description;
  if (description === undefined) return undefined;
  return [...description.slice(description.indexOf('columns')).matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
}

/** The fields that the document names for the rows of a list as JSON. */
export function rowFieldsOf({ document, responses }: Operation): string[] {
  const named = ({ $ref, ...schema }: Schema): Schema =>
    $ref === undefined ? schema : (documents.get(document)?.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});
  const page = named(responses['200']?.content?.['application/json']?.schema ?? {});
  const row = page.properties?.['data']?.items ?? {};
  return (row.oneOf ?? [row]).flatMap((each) => Object.keys(named(each).properties ?? {}));
}

/** "More may follow" in it. */
const OPEN_SCHEMA = 'ErrorDetails';

const ajv = new Ajv({ strict: false, allErrors: true });
formats.default(ajv);
for (const [name, document] of documents) ajv.addSchema(closed(document), name);
const validators = new Map<string, ValidateFunction>();

/** Only its schemas; a field that a schema does not name is a fault too. */
function closed({ components }: OpenApiDocument): object {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [
    name,
    schema.properties === undefined || name === OPEN_SCHEMA ? schema : { ...schema, additionalProperties: false },
  ]);
  return { components: { schemas: Object.fromEntries(schemas) as object } };
}

/** What of an answer is not as the document says: its status, or its JSON body. */
export function faultsOf({ document, responses }: Operation, { status, body, headers }: Reply): string[] {
  const response = responses[status];
  if (response === undefined) return [`${status} is not in the document`];
  const schema = response.content?.['application/json']?.schema;
  if (schema === undefined || headers.get('content-type')?.includes('json') !== true) return [];
  const text = JSON.stringify(schema).replaceAll('"#/', `"${document}#/`);
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as object);
  validators.set(text, validate);
  validate(body);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${status}: ${instancePath} ${message}`);
}
