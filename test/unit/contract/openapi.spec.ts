import { describe, expect, it } from '@jest/globals';
import { openApiOf } from '../../../src/admin/documents/openapi.js';
import { PUBLICATIONS } from '../../../src/admin/documents/publications.js';
import { wholeDocument } from '../../support/whole-document.js';

interface Schema {
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly example?: unknown;
}
interface Example {
  readonly value: { readonly error: { readonly code: string; readonly details?: { readonly reason?: string } } };
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly example?: unknown;
    readonly schema: Schema;
  }[];
  readonly requestBody?: object;
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly headers?: object;
        readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, Example>> }>>;
      }
    >
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const documents = new Map(
  PUBLICATIONS.map(({ api }) => [api.name, wholeDocument(openApiOf(api, '') as unknown as Document)] as const),
);
const operations = [...documents.values()].flatMap(({ paths }) =>
  Object.values(paths).flatMap(Object.values<Operation>),
);
const reply = (operationId: string, status: string) =>
  operations.find((each) => each.operationId === operationId)?.responses[status];
const reasons = (operationId: string, status: string) =>
  Object.values(reply(operationId, status)?.content?.['application/json']?.examples ?? {}).map(
    ({ value }) => value.error.details?.reason,
  );

describe('the OpenAPI documents', () => {
  it('have one operation id for each operation, which tools can use', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]*$/.test(id))).toEqual([]);
  });

  it.each(['408', '413', '415'])('have %s for the operations with a body alone', (status) => {
    const wrong = operations.filter((each) => status in each.responses !== (each.requestBody !== undefined));
    expect(wrong.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('have 422 for tickets alone, of the interfaces', () => {
    const with422 = operations.filter(({ responses }) => '422' in responses).map(({ operationId }) => operationId);
    expect(with422).toEqual(['createTicket']);
  });

  it('have each reason of a refused ticket and account in an example (decisions 16, 20, 28)', () => {
    expect(reasons('createTicket', '422')).toEqual([undefined, 'FLOW_CONFLICT', undefined, 'IDEMPOTENCY_KEY_REUSED']);
    expect(reasons('createAccount', '409')).toEqual(['NAME_TAKEN', 'IDEMPOTENCY_KEY_REUSED']);
  });

  it.each(PUBLICATIONS.map(({ api }) => [api.name, api.codes] as const))(
    'of %s have its closed set of codes',
    (name, codes) => {
      expect(documents.get(name)?.components.schemas['ErrorBody']?.properties?.['code']?.enum).toEqual(codes);
    },
  );

  it('mention no details for the continuous list (section 2.1)', () => {
    const { responses } = operations.find(({ operationId }) => operationId === 'listContinuous')!;
    expect(JSON.stringify(responses)).not.toMatch(/details|\/ErrorResponse/);
  });

  it('have the 62 codes of states (decision 30)', () => {
    const codes = documents.get('account')?.components.schemas['BillingAddress']?.properties?.['state']?.enum;
    expect(codes).toHaveLength(62);
    expect(codes).toEqual(expect.arrayContaining(['TX', 'DC', 'PR', 'AE']));
  });

  it('prefill no filter and no Idempotency-Key', () => {
    const prefilled = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ required, example, schema }) => required !== true && (example ?? schema.example) !== undefined)
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(prefilled).toEqual([]);
  });
});
