import { expect } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { TestApp } from '../../support/app.js';
import type { Reply } from '../../support/http.js';
import {
  type Documented,
  operationsOf,
  type ServedDocument,
  servedDocuments,
  type ServedSchema,
} from './served-documents.js';

export interface Sent {
  /** Values of the path's parameters; an example of the document where there is none. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Of HTTP itself, or the same on every answer of the service whatever is asked (decision 14). */
const OF_ALL = new Set([
  ...['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'],
  ...['cache-control', 'content-security-policy', 'strict-transport-security', 'x-content-type-options'],
]);

/** Calls the service as its documents say, and holds every answer to what they say of it. */
export class DocumentClient {
  readonly operations: readonly Documented[];
  private readonly ajv = new Ajv({ strict: false, allErrors: true });
  private readonly validators = new Map<string, ValidateFunction>();

  private constructor(
    private readonly service: TestApp,
    readonly documents: ReadonlyMap<string, ServedDocument>,
    private readonly secrets: Readonly<Record<string, string>>,
  ) {
    this.operations = operationsOf(documents);
    formats.default(this.ajv);
    for (const [name, document] of documents) this.ajv.addSchema(closed(document), name);
  }

  /** `key` opens all four interfaces. */
  static async open(service: TestApp, key: string): Promise<DocumentClient> {
    const secrets = { 'PLATFORM-API-KEY': key, 'API-KEY': key, Authorization: `Bearer ${service.env.ADMIN_TOKEN}` };
    return new DocumentClient(service, await servedDocuments(service), secrets);
  }

  /** Sends the examples of the document, except for given values. Checks status, headers and JSON body against the document. */
  async send(documented: Documented, sent: Sent = {}): Promise<Reply> {
    const { method, path, operation } = documented;
    const reply = await this.service.call(method, addressOf(documented, sent), {
      headers: { ...this.secretsFor(documented), ...sent.headers },
      ...(sent.body === undefined ? {} : { body: sent.body }),
    });
    const response = operation.responses[reply.status];
    if (response === undefined)
      throw new Error(`${method} ${path} answers ${reply.status}, and no document says so: ${reply.text}`);
    const headers = new Set([...OF_ALL, ...Object.keys(response.headers ?? {}).map((name) => name.toLowerCase())]);
    const undocumented = [...reply.headers.keys()].filter((name) => !headers.has(name));
    expect([`${method} ${path} ${reply.status}`, undocumented]).toEqual([`${method} ${path} ${reply.status}`, []]);
    const schema = response.content?.['application/json']?.schema;
    if (schema !== undefined) this.expectValid(documented, schema, reply);
    return reply;
  }

  /** The partner API accepts the key in one of the two headers. */
  private secretsFor({ name }: Documented): Readonly<Record<string, string>> {
    if (name !== 'partner') return this.secrets;
    return { 'API-KEY': this.secrets['API-KEY'] ?? '' };
  }

  /** The bodies that a page offers for sending; none where no JSON is taken. */
  examplesOf({ name, operation }: Documented): unknown[] {
    const content = operation.requestBody?.content['application/json'];
    if (content === undefined) return [];
    if (content.examples !== undefined) return Object.values(content.examples).map(({ value }) => value);
    return [this.sampleOf(name, content.schema ?? {})];
  }

  /** Of a schema that stands in the document of that name. */
  validator(name: string, schema: ServedSchema): ValidateFunction {
    // Ajv looks through all of what is added to it, so that is the schemas alone, and each reference names its document.
    const text = JSON.stringify(schema).replaceAll('"#/', `"${name}#/`);
    const validate = this.validators.get(text) ?? this.ajv.compile(JSON.parse(text) as object);
    this.validators.set(text, validate);
    return validate;
  }

  private expectValid({ name, method, path }: Documented, schema: ServedSchema, { status, body }: Reply): void {
    const validate = this.validator(name, schema);
    validate(body);
    const faults = validate.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
    expect([`${method} ${path} ${status}`, faults]).toEqual([`${method} ${path} ${status}`, undefined]);
  }

  /** As Swagger UI makes it: all fields, each with its example. */
  private sampleOf(name: string, schema: ServedSchema): unknown {
    const { $ref, allOf, example, properties, items } = schema;
    if (example !== undefined) return example;
    if ($ref !== undefined) {
      return this.sampleOf(name, this.documents.get(name)?.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});
    }
    if (allOf !== undefined) return Object.assign({}, ...allOf.map((part) => this.sampleOf(name, part))) as object;
    if (items !== undefined) return [this.sampleOf(name, items)];
    return Object.fromEntries(Object.entries(properties ?? {}).map(([key, part]) => [key, this.sampleOf(name, part)]));
  }
}

function addressOf({ path, operation }: Documented, sent: Sent): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place, required, schema } of operation.parameters ?? []) {
    const example = required === true ? (schema.example as string | undefined) : undefined;
    const value = (place === 'path' ? sent.path : sent.query)?.[name] ?? example;
    if (value === undefined) continue;
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    if (place === 'query') query.set(name, value);
  }
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}

/** Its schemas; a field that none of them knows is a fault too. */
function closed({ components }: ServedDocument): object {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [
    name,
    schema.properties === undefined ? schema : { ...schema, additionalProperties: false },
  ]);
  return { components: { schemas: Object.fromEntries(schemas) as object } };
}
