import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { MAX_REQUEST_ID_LENGTH } from '../../../src/contracts/vision/vision.dto.js';
import { DEMO, DEMO_SITE_DATA } from '../../../src/demo/demo-data.js';
import { PUBLICATIONS } from '../../../src/docs/documents.js';
import { issueConnectionKey, issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { DocumentClient } from './document-client.js';
import type { Documented, ServedDocument } from './served-documents.js';
import { eventually } from '../../support/eventually.js';
import { at, demoVideo, upload } from '../../support/reference-vision.js';
import { requestBecomes } from '../../support/video-requests.js';

let service: TestApp;
let client: DocumentClient;
let documents: ReadonlyMap<string, ServedDocument>;
let operations: readonly Documented[];
/** Ids for the paths, by the word before `{id}`. */
const ids: Record<string, string> = {};
let visionConnection = '';
const connectionKeys = { site: '', vision: '' };
/** Of the examples of an erasure, which an example cannot know. */
let erasedAccountId = '';

/** The state of the demo: its hauler, its sites, a recorded minute, and connections of the service to itself. */
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true, SANDBOX: true, HTTP_BODY_LIMIT: 65_536 } });
  const { haulerId } = DEMO;
  await made('/haulers', { id: haulerId, name: DEMO.haulerName });
  ids['haulers'] = haulerId;
  const { id, key } = await issueKey(service, ['scale', 'account', 'site', 'vision'], { haulerId });
  ids['api-keys'] = id;
  const shared = { haulerId, baseUrl: service.url, apiKey: key };
  ids['connections'] = await made('/connections', { ...shared, interface: 'site', enabled: false });
  visionConnection = await made('/connections', { ...shared, interface: 'vision' });
  connectionKeys.site = (await issueConnectionKey(service, ids['connections'])).key;
  connectionKeys.vision = (await issueConnectionKey(service, visionConnection)).key;
  client = await DocumentClient.open(service, key);
  ({ documents, operations } = client);
  const put = operation('replaceHostedSiteData');
  expect((await client.send(put, { path: { haulerId: DEMO.haulerId }, body: DEMO_SITE_DATA })).status).toBe(200);
  const { body: run } = await client.send(operation('syncConnection'), {
    path: { id: ids['connections'] ?? '' },
  });
  ids['sync-runs'] = (run as { runId: string }).runId;
  await eventually(async () => {
    const { body } = await client.send(operation('getSyncRun'), { path: { id: ids['sync-runs'] ?? '' } });
    expect(body).toMatchObject({ status: 'succeeded' });
  });
  expect((await upload(service, 0, { customerId: DEMO.haulerId })).status).toBe(201);
  const order = { connectionId: visionConnection, truckId: DEMO.truckId, cameraId: 'front' };
  ids['video-requests'] = await made('/video-requests', { ...order, startTime: at(0), endTime: at(1) });
  const { recordingIds } = await requestBecomes(service, ids['video-requests'], { status: 'stored' });
  ids['recordings'] = recordingIds[0] ?? '';
  const hook = { url: `${service.url}/no-receiver`, topics: ['ticket.created'] };
  const { body: endpoint } = await client.send(operation('createOwnWebhookEndpoint'), { path: {}, body: hook });
  ids['webhook-endpoints'] = (endpoint as { id: string }).id;
  ids['webhook-deliveries'] = await made(`/webhook-endpoints/${ids['webhook-endpoints']}/test`, {});
  ids['video-subscriptions'] = await made('/video-subscriptions', { ...order, startTime: new Date().toISOString() });
  const held = { connectionId: visionConnection, truckId: DEMO.truckId, from: at(0), to: at(1) };
  ids['holds'] = await made('/holds', { ...held, caseId: 'CASE-1', reason: 'Held' });
  const { body: account } = await client.send(operation('createAccount'), { body: erasedAccount() });
  erasedAccountId = (account as { accountId: string }).accountId;
  const range = { connectionId: visionConnection, truckId: 'NONE', from: at(0), to: at(1) };
  ids['erasures'] = await made('/erasures', range);
});
afterAll(() => service.close());

async function made(path: string, body: object): Promise<string> {
  const { status, text, body: answer } = await service.admin<{ id: string }>('POST', path, body);
  if (status >= 300) throw new Error(`${path} is refused: ${text}`);
  return answer.id;
}

function operation(id: string): Documented {
  const found = operations.find((each) => each.operation.operationId === id);
  if (found === undefined) throw new Error(`no document has ${id}`);
  return found;
}

/** The id of an existing resource of that kind, or a random one. */
const pathOf = ({ path }: Documented, id = ids[/([\w-]+)\/\{id\}/.exec(path)?.[1] ?? '']) => ({
  id: id ?? randomUUID(),
});

/** Some calls of the partner API are for keys of a connection. */
function keyFor({ name, path }: Documented): Record<string, string> {
  if (name !== 'partner' || !/sync-runs|findings|video-subscriptions|windows|recordings/.test(path)) return {};
  return { 'API-KEY': connectionKeys[path.includes('sync-runs') ? 'site' : 'vision'] };
}

const erasedAccount = () => ({
  ...(client.examplesOf(operation('createAccount'))[0] as object),
  accountName: 'Erased',
  externalId: 'ERASED',
});

/** Sets the connection, the endpoint or the account, which an example cannot know. */
function connected(body: unknown): unknown {
  if (body === null || typeof body !== 'object') return body;
  if ('accountId' in body) return { ...body, accountId: erasedAccountId };
  if ('endpointId' in body) return { ...body, endpointId: ids['webhook-endpoints'] };
  return 'connectionId' in body ? { ...body, connectionId: visionConnection } : body;
}

const statusesOf = async (sent: Promise<{ status: number }>[]) => (await Promise.all(sent)).map(({ status }) => status);

it('the content of a stored recording can be read in ranges', async () => {
  const content = operation('getRecordingContent');
  const path = { id: ids['recordings'] ?? '' };
  const { status, headers } = await client.send(content, { path });
  const etag = headers.get('etag') ?? '';
  const asked: Record<string, string>[] = [
    { Range: 'bytes=0-99' },
    { 'If-None-Match': etag },
    { Range: 'bytes=0-99', 'If-Range': '"other"' },
    { Range: 'x' },
  ];
  const replies = await Promise.all(asked.map((each) => client.send(content, { path, headers: each })));
  expect([status, ...replies.map((reply) => reply.status)]).toEqual([200, 206, 304, 200, 416]);
  for (const reply of replies) {
    const documented = Object.keys(content.operation.responses[reply.status]?.headers ?? {}).map((name) =>
      name.toLowerCase(),
    );
    for (const name of ['etag', 'accept-ranges', 'content-range']) {
      expect([reply.status, name, reply.headers.has(name)]).toEqual([reply.status, name, documented.includes(name)]);
    }
  }
});

describe('every example of a request body', () => {
  // The examples start scenarios, which would change the responses of other tests.
  afterAll(async () => {
    expect((await client.send(operation('endOwnScenario'), { path: {} })).status).toBe(204);
  });

  it('is accepted', async () => {
    let sent = 0;
    for (const each of operations) {
      // 409, because the run of this test holds no removals, and 404, because the test has no exchange and no request of that id.
      if (['rejectSyncRun', 'replayExchange', 'poke'].includes(each.operation.operationId ?? '')) continue;
      for (const example of client.examplesOf(each)) {
        // Only a connection for videos has this field.
        const isForVideos = JSON.stringify(example).includes('firstByteTimeoutSeconds');
        const path = pathOf(each, isForVideos ? visionConnection : undefined);
        const { status, text } = await client.send(each, { path, body: connected(example) });
        expect([each.operation.operationId, status < 300 ? 'accepted' : text]).toEqual([
          each.operation.operationId,
          'accepted',
        ]);
        sent++;
      }
    }
    expect(sent).toBeGreaterThan(15);
  });
});

describe('the documented responses match', () => {
  it('those of every GET', async () => {
    for (const each of operations.filter(({ method }) => method === 'GET')) {
      const query: Record<string, string> = /^getCoverage/.test(each.operation.operationId ?? '')
        ? { connectionId: visionConnection }
        : {};
      expect([
        each.path,
        (await client.send(each, { path: pathOf(each), query, headers: keyFor(each) })).status,
      ]).toEqual([each.path, /(tickets|accounts|exchanges)\/\{id\}/.test(each.path) ? 404 : 200]);
    }
  });

  it('those of tickets and accounts that are pushed, repeated and refused', async () => {
    const ticket = operation('createTicket');
    const [body] = client.examplesOf(ticket) as [{ inboundFlow: object; outboundFlow: object }];
    const other = { ...body, inboundFlow: { ...body.inboundFlow, ticketNumber: 'IN-2' }, outboundFlow: undefined };
    const headers = { 'Idempotency-Key': 'once' };
    await client.send(ticket, { body });
    const pushed = await client.send(ticket, { body: other, headers });
    const { disposalTicketId } = pushed.body as { disposalTicketId: string };
    expect((await client.send(ticket, { body: { ...other, outboundFlow: body.outboundFlow } })).body).toMatchObject({
      error: { details: { reason: 'FLOW_CONFLICT' } },
    });
    expect((await client.send(ticket, { body: other, headers })).headers.get('idempotency-replayed')).toBe('true');
    expect((await client.send(ticket, { body, headers })).body).toMatchObject({
      error: { details: { reason: 'IDEMPOTENCY_KEY_REUSED' } },
    });
    const account = operation('createAccount');
    // Another test creates the account of the example.
    const taken = { ...(client.examplesOf(account)[0] as object), accountName: 'Taken', externalId: 'TAKEN' };
    await client.send(account, { body: taken });
    const { status, body: refused } = await client.send(account, { body: taken, headers });
    expect([status, refused]).toMatchObject([409, { error: { details: { reason: 'NAME_TAKEN' } } }]);
    const { accountId } = (refused as { error: { details: { accountId: string } } }).error.details;
    expect((await client.send(account, { body: taken, headers })).headers.get('idempotency-replayed')).toBe('true');
    for (const [name, id] of [
      ['getTicket', disposalTicketId],
      ['listTicketRevisions', disposalTicketId],
      ['getAccount', accountId],
    ] as const) {
      expect([name, (await client.send(operation(name), { path: { id } })).status]).toEqual([name, 200]);
    }
  });

  it('those without a key, with malformed parameters, and with an unknown id', async () => {
    for (const each of operations) {
      const { path, operation: documented } = each;
      const none = { Authorization: '', 'API-KEY': '', 'PLATFORM-API-KEY': '' };
      const statuses = await statusesOf([client.send(each, { headers: none })]);
      const wrong = path.includes('{')
        ? { path: { id: 'x', haulerId: 'x', subject: 'x' } }
        : { query: { page: 'x', from: 'x', haulerId: 'x', checksums: 'x' } };
      if (documented.requestBody === undefined && (path.includes('{') || (documented.parameters ?? []).length > 0)) {
        statuses.push(...(await statusesOf([client.send(each, wrong)])));
        // The id of a scenario is its name, and each has an example.
        if (!path.endsWith('{name}')) expect([path, statuses]).toEqual([path, [401, 400]]);
      } else expect([path, statuses]).toEqual([path, [401]]);
      if (path.includes('{id}') && documented.requestBody === undefined) {
        const unknown = await client.send(each, { path: { id: randomUUID() } });
        expect([path, unknown.status]).toEqual([path, 404]);
      }
    }
  });

  it('those to bodies that are malformed, of another content type, and too large', async () => {
    for (const each of operations.filter(({ operation: { requestBody } }) => requestBody !== undefined)) {
      const path = pathOf(each);
      const [type = ''] = Object.keys(each.operation.requestBody?.content ?? {});
      const isJson = type === 'application/json';
      const headers = { 'Content-Type': type };
      const query = { customerId: randomUUID(), haulerId: DEMO.haulerId };
      expect([
        each.path,
        ...(await statusesOf([
          client.send(each, { path, query, headers, body: '{' }),
          client.send(each, { path, query, headers: { 'Content-Type': 'text/plain' }, body: '{}' }),
        ])),
      ]).toEqual([each.path, 400, 415]);
      // Site data and recordings have larger limits than a test should send.
      if (!isJson || each.path.includes('hosted/haulers')) continue;
      expect([each.path, (await client.send(each, { path, body: `"${'x'.repeat(70_000)}"` })).status]).toEqual([
        each.path,
        413,
      ]);
    }
  });

  it('those of conflicts', async () => {
    const rotated = operation('rotateApiKey');
    const { id } = await issueKey(service, ['site'], { haulerId: DEMO.haulerId });
    await client.send(operation('revokeApiKey'), { path: { id } });
    const query = {
      customerId: DEMO.haulerId,
      truckId: DEMO.truckId,
      cameraId: 'front',
      startTime: at(0),
      endTime: at(1),
    };
    expect(
      await statusesOf([
        client.send(rotated, { path: { id } }),
        client.send(operation('createHauler'), { body: { id: DEMO.haulerId, name: 'Again' } }),
        client.send(operation('confirmSyncRun'), { path: { id: ids['sync-runs'] ?? '' } }),
        client.send(operation('uploadHostedRecording'), {
          query,
          body: demoVideo(0),
          headers: { 'Content-Type': 'video/mp4' },
        }),
      ]),
    ).toEqual([409, 409, 409, 409]);
  });

  it('those of deletions', async () => {
    const ordered = { connectionId: visionConnection, truckId: 'ENDED', startTime: new Date().toISOString() };
    const connection = {
      haulerId: DEMO.haulerId,
      interface: 'site',
      baseUrl: service.url,
      apiKey: 'none',
      enabled: false,
    };
    for (const [name, id] of [
      ['deleteVideoSubscription', await made('/video-subscriptions', ordered)],
      ['deleteConnection', await made('/connections', connection)],
    ] as const) {
      const reply = await client.send(operation(name), { path: { id } });
      expect([name, reply.status]).toEqual([name, 204]);
    }
  });

  it.each([null, true, 1, 'text', [null], {}])('those with a quarantined record of %j', (raw) => {
    const valid = client.validator('admin', { $ref: '#/components/schemas/QuarantinedRecord/properties/raw' });
    expect([valid(raw), valid.errors]).toEqual([true, null]);
  });
});

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

  it('429 belongs to all operations: keys have a quota, and wrong admin tokens a limit', () => {
    for (const { operation } of operations) expect(operation.responses).toHaveProperty('429');
  });

  it('404 of the admin API belongs to operations on one resource, and to the sandbox, which may be off', () => {
    const named = operations.filter(
      ({ name, path }) => name === 'admin' && (path.includes('{id}') || path.includes('/sandbox')),
    );
    expect(documented('admin', '404')).toEqual(
      named.map(({ method, path }) => `${method} ${path.replace('/admin/v1', '')}`).sort(),
    );
  });

  it('409 of the admin API belongs to operations that can conflict, and says with what', () => {
    expect(documented('admin', '409')).toEqual([
      'GET /holds/{id}/bundle',
      'POST /api-keys/{id}/rotate',
      'POST /erasures',
      'POST /exchanges/replay',
      'POST /exchanges/{id}/replay',
      'POST /haulers',
      'POST /holds/{id}/release',
      'POST /hosted/recordings',
      'POST /recordings/{id}/retry',
      'POST /recordings/{id}/shares',
      'POST /sandbox/customers/{customerId}/clock',
      'POST /sync-runs/{id}/confirm',
      'POST /sync-runs/{id}/reject',
      'POST /tickets/{id}/footage',
      'POST /video-requests',
      'POST /video-requests/{id}/retry',
      'POST /webhook-deliveries/{id}/retry',
      'POST /webhook-endpoints',
      'PUT /haulers/{id}/retention',
      'PUT /hosted/cameras',
      'PUT /outbound',
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
      undefined,
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
