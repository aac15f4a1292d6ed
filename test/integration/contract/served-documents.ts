import { PUBLICATIONS } from '../../../src/docs/documents.js';
import type { TestApp } from '../../support/app.js';
import { wholeDocument } from '../../support/whole-document.js';

/** What of a served OpenAPI document the tests look at. */
export interface ServedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ServedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ServedSchema>> };
}

export interface ServedSchema {
  readonly $ref?: string;
  readonly allOf?: readonly ServedSchema[];
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: ServedSchema;
  readonly properties?: Readonly<Record<string, ServedSchema>>;
  readonly example?: unknown;
}

interface Content {
  readonly schema?: ServedSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface ServedOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly example?: unknown;
    readonly schema: ServedSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers?: Readonly<Record<string, unknown>>;
        readonly content?: Readonly<Record<string, Content>>;
      }
    >
  >;
}

export interface Documented {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: ServedOperation;
}

/** The documents by the names of their interfaces. */
export async function servedDocuments(service: TestApp): Promise<ReadonlyMap<string, ServedDocument>> {
  const documents = PUBLICATIONS.map(async ({ api: { name } }) => {
    const { body } = await service.call<ServedDocument>('GET', `/docs/${name}.json`);
    return [name, wholeDocument(body)] as const;
  });
  return new Map(await Promise.all(documents));
}

export function operationsOf(documents: ReadonlyMap<string, ServedDocument>): Documented[] {
  return [...documents].flatMap(([name, { paths }]) =>
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        name,
        method: method.toUpperCase(),
        path,
        operation,
      })),
    ),
  );
}
