import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_REQUEST_ID_LENGTH } from '../../src/contracts/vision/vision.dto.js';
import { PUBLICATIONS } from '../../src/docs/documents.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Documented, operationsOf, type ServedDocument, servedDocuments } from '../support/documents.js';

let service: TestApp;
let documents: ReadonlyMap<string, ServedDocument>;
let operations: readonly Documented[];
beforeAll(async () => {
  service = await startTestApp({ env: { SANDBOX: true } });
  documents = await servedDocuments(service);
  operations = operationsOf(documents);
});
afterAll(() => service.close());

const documented = (name: string, status: string) =>
  operations
    .filter((each) => each.name === name && status in each.operation.responses)
    .map(({ method, path }) => `${method} ${path.replace('/admin/v1', '')}`)
    .sort();

const reply = (operationId: string, status: string) =>
  operations.find((each) => each.operation.operationId === operationId)?.operation.responses[status];

/** The `error` of each example. */
const examples = (operationId: string, status: string) =>
  Object.values(reply(operationId, status)?.content?.['application/json']?.examples ?? {}).map(
    ({ value }) => (value as { error: { code: string; details?: { reason?: string } } }).error,
  );

describe('the documented errors', () => {
  it.each(['408', '413', '415'])('%s belongs to the operations with a body', (status) => {
    for (const { operation } of operations) {
      expect([operation.operationId, status in operation.responses]).toEqual([
        operation.operationId,
        operation.requestBody !== undefined,
      ]);
    }
  });

  it('429 belongs to the operations with an API key, because the admin token has no quota', () => {
    for (const { name, operation } of operations) expect('429' in operation.responses).toBe(name !== 'admin');
  });

  it('404 of the admin API belongs to operations on one resource, and to the sandbox, which may be off', () => {
    const named = operations.filter(
      ({ name, path }) => name === 'admin' && (path.includes('{id}') || path.includes('/sandbox/')),
    );
    expect(documented('admin', '404')).toEqual(
      named.map(({ method, path }) => `${method} ${path.replace('/admin/v1', '')}`).sort(),
    );
  });

  it('409 of the admin API belongs to operations that can conflict, and says with what', () => {
    expect(documented('admin', '409')).toEqual([
      'POST /api-keys/{id}/rotate',
      'POST /exchanges/replay',
      'POST /exchanges/{id}/replay',
      'POST /haulers',
      'POST /hosted/recordings',
      'POST /sandbox/customers/{customerId}/clock',
      'POST /sync-runs/{id}/confirm',
      'POST /sync-runs/{id}/reject',
      'PUT /hosted/cameras',
    ]);
    expect(reply('confirmSyncRun', '409')?.description).toContain('newer run');
    expect(reply('rotateApiKey', '409')?.description).toContain('revoked');
  });

  it('422 belongs to tickets only', () => {
    expect(['scale', 'account', 'site', 'vision', 'admin'].flatMap((name) => documented(name, '422'))).toEqual([
      'POST /platform-api/v1/tickets',
    ]);
  });

  it('401 of the admin API names the admin token', () => {
    expect(reply('listHaulers', '401')?.description).toContain('admin token');
    expect(reply('listVideos', '401')?.description).toContain('API key');
  });

  it('a response that contains a new key must not be cached', () => {
    for (const operationId of ['issueApiKey', 'rotateApiKey']) {
      expect(reply(operationId, '201')?.headers).toHaveProperty('Cache-Control.schema.enum', ['no-store']);
    }
  });

  it('the content of a recording can be read in ranges, and conditionally', () => {
    const content = operations.find(({ path }) => path.endsWith('/content'))?.operation;
    expect(Object.keys(content?.responses ?? {})).toEqual(expect.arrayContaining(['200', '206', '304', '404', '416']));
    expect(content?.parameters?.filter((each) => each.in === 'header').map(({ name }) => name)).toEqual([
      'Range',
      'If-Range',
      'If-None-Match',
    ]);
    for (const status of ['200', '206', '304', '416'])
      expect(Object.keys(content?.responses[status]?.headers ?? {})).toEqual(
        expect.arrayContaining(['ETag', 'Accept-Ranges']),
      );
    for (const status of ['206', '416']) expect(content?.responses[status]?.headers).toHaveProperty('Content-Range');
  });
});

describe('the error bodies in the documents', () => {
  it.each(PUBLICATIONS.map(({ api }) => [api.name, api.codes] as const))(
    'of %s have the closed set of its codes',
    (name, codes) => {
      for (const body of ['ErrorBody', 'PlainErrorBody']) {
        const schema = documents.get(name)?.components.schemas[body];
        if (schema !== undefined || body === 'ErrorBody') expect(schema?.properties?.['code']?.enum).toEqual(codes);
      }
    },
  );

  it('of the continuous list have no details, and no text mentions them (section 2.1)', () => {
    const responses = operations.find(({ operation }) => operation.operationId === 'listContinuous')?.operation
      .responses;
    expect(JSON.stringify(responses)).not.toMatch(/details|\/ErrorResponse/);
    expect(documents.get('vision')?.components.schemas['PlainErrorBody']?.properties).not.toHaveProperty('details');
  });

  it('of a refused ticket and account show each reason in an example (decisions 16, 20, 28)', () => {
    expect(examples('createTicket', '422').map(({ details }) => details?.reason)).toEqual([
      undefined,
      'FLOW_CONFLICT',
      'IDEMPOTENCY_KEY_REUSED',
    ]);
    expect(examples('createAccount', '409')).toEqual([
      {
        code: 'CONFLICT',
        message: expect.any(String),
        details: { reason: 'NAME_TAKEN', accountId: expect.any(String), accountNumber: expect.any(String) },
      },
      {
        code: 'CONFLICT',
        message: expect.any(String),
        details: expect.objectContaining({ reason: 'IDEMPOTENCY_KEY_REUSED' }),
      },
    ]);
    for (const [operationId, status] of [
      ['createTicket', '422'],
      ['createAccount', '409'],
    ] as const)
      expect(reply(operationId, status)?.headers).toHaveProperty('Idempotency-Replayed');
  });

  it('show the code of their status', () => {
    for (const { operation } of operations) {
      const example = operation.responses['401']?.content?.['application/json']?.example;
      expect(example).toMatchObject({ success: false, error: { code: 'UNAUTHORIZED' } });
    }
  });
});

describe('an operation in Swagger UI', () => {
  it('is not prefilled with a filter or an Idempotency-Key', () => {
    const prefilled = operations.flatMap(({ operation }) =>
      (operation.parameters ?? [])
        .filter(({ required, example, schema }) => required !== true && (example ?? schema.example) !== undefined)
        .map(({ name }) => `${operation.operationId} ${name}`),
    );
    expect(prefilled).toEqual([]);
  });
});

describe('values in the documents', () => {
  it('state is one of the 62 codes (decision 30)', () => {
    const codes = documents.get('account')?.components.schemas['BillingAddress']?.properties?.['state']?.enum;
    expect(codes).toHaveLength(62);
    expect(codes).toEqual(expect.arrayContaining(['TX', 'DC', 'PR', 'AE']));
  });

  it.each(['VideoRequestPart', 'VideoRequest'])('a %s allows the longest id of a partner', (name) => {
    const properties = documents.get('admin')?.components.schemas[name]?.properties;
    expect(properties?.['partnerRequestId']?.maxLength).toBe(MAX_REQUEST_ID_LENGTH);
  });
});
