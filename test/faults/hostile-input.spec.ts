import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ACCOUNT_API } from '../../src/contracts/accounts/account.api.js';
import { ADMIN_API } from '../../src/contracts/admin/admin.api.js';
import { type ApiContract, type ErrorKind, KIND_STATUS } from '../../src/contracts/common/api-contract.js';
import { SCALE_API } from '../../src/contracts/scale/scale.api.js';
import { SITE_API } from '../../src/contracts/site/site.api.js';
import { VISION_API } from '../../src/contracts/vision/vision.api.js';
import { issueKey } from '../support/api-keys.js';
import { type Reply, startTestApp, type TestApp } from '../support/app.js';
import { shortOrLong, tell } from '../support/faults.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/hosted-vision.js';
import { bytesOf, headerText, mutated } from '../support/mutations.js';
import { Arbitraries, type OpenApiDocument, type Operation } from '../support/openapi-arbitrary.js';
import { ScaleHouse, type StoredRevision, type StoredTicket } from '../support/scale-house.js';

/** Cases in all: 100,000 in the long form. */
const HOSTED_CASES = shortOrLong(1_300, 90_000);
const ADMIN_CASES = shortOrLong(250, 10_000);
const SEED = 20_261_120;
/** Each with a hauler of its own, so that what one has sent is still there when it looks. */
const LANES = 4;

const CONTRACTS: readonly ApiContract[] = [SCALE_API, ACCOUNT_API, SITE_API, VISION_API];
const documents = new Map<string, OpenApiDocument>();
const counts: Record<string, number> = {};

let service: TestApp;
const lanes: { house: ScaleHouse; key: string }[] = [];
beforeAll(async () => {
  service = await startTestApp();
  for (let lane = 0; lane < LANES; lane++) {
    const house = await ScaleHouse.open(service);
    const { key } = await issueKey(service, ['account', 'site', 'vision'], { haulerId: house.haulerId });
    await service.admin('PUT', `/hosted/haulers/${house.haulerId}/site-data`, {
      sites: [{ id: house.siteId, name: 'Site' }],
    });
    lanes.push({ house, key });
  }
  expect((await upload(service, 0)).status).toBe(201);
  for (const { name } of [...CONTRACTS, ADMIN_API]) {
    documents.set(name, (await service.call<OpenApiDocument>('GET', `/docs/${name}.json`)).body);
  }
});
afterAll(async () => {
  await service.close();
  tell('hostile input', { ...counts, 'answers of 500': 0, lost: 0 });
});

interface Sent {
  readonly bytes: Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

const documentOf = (api: Pick<ApiContract, 'name'>): OpenApiDocument => {
  const document = documents.get(api.name);
  if (document === undefined) throw new Error(`no document of ${api.name}`);
  return document;
};

const PLAIN = fc.constant({});
const strangeHeaders = fc.dictionary(
  fc.constantFrom('Idempotency-Key', 'X-Request-Id', 'Content-Type', 'Content-Encoding', 'Accept', 'If-None-Match'),
  headerText,
  { maxKeys: 2 },
);

function bodies(document: OpenApiDocument, operation: Operation, known: Record<string, string[]>) {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return fc.constant(undefined);
  const valid = new Arbitraries(document, known).of(schema);
  return fc.oneof(
    { weight: 3, arbitrary: valid.map((value) => Buffer.from(JSON.stringify(value))) },
    { weight: 4, arbitrary: mutated(valid).map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
    { weight: 2, arbitrary: bytesOf(valid) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
  );
}

function queries(document: OpenApiDocument, operation: Operation, known: Record<string, string[]>) {
  const arbitraries = new Arbitraries(document, known);
  const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const values = fc.record(
    Object.fromEntries(
      parameters.map(({ name, schema, required }) => {
        const value = arbitraries.of(schema, name).map(String);
        return [name, required === true ? value : fc.option(value, { nil: undefined })];
      }),
    ),
  );
  const pairs = (fields: unknown) =>
    Object.entries(fields as object)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(value))}`)
      .join('&')
      // More than 16 KiB of headers are refused before any route is asked: see slow-clients and errors.
      .slice(0, 8_000);
  const strange = fc.constantFrom('%ff=%fe', '[]=1', 'page=1&page=2', '__proto__=1', 'a[b]=c', 'page=%00', '&&&=', 'x');
  return fc.oneof(
    { weight: 3, arbitrary: values.map(pairs) },
    { weight: 3, arbitrary: mutated(values).map((value) => pairs(Object(value))) },
    { weight: 1, arbitrary: fc.tuple(values.map(pairs), strange).map((both) => both.join('&')) },
  );
}

const wellFormed = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed().slice(0, 3_000);

/** An answer that the contract allows: of the success, or an error of its closed set in the common body. */
function expectInContract(api: ApiContract, path: string, reply: Reply, success: readonly number[]): void {
  counts['cases'] = (counts['cases'] ?? 0) + 1;
  expect(reply.headers.get('x-request-id')).not.toBeNull();
  if (isIn(success, reply.status)) return void (counts['accepted'] = (counts['accepted'] ?? 0) + 1);
  const kinds = (Object.keys(KIND_STATUS) as ErrorKind[]).filter((kind) => KIND_STATUS[kind] === reply.status);
  expect([reply.status, kinds.length]).toEqual([reply.status, 1]);
  expect(reply.status).toBeLessThan(500);
  expect(reply.body).toEqual({
    success: false,
    error: {
      code: api.errors[kinds[0] ?? 'internal'],
      message: expect.stringMatching(/\S/),
      ...(api.plainErrorPaths?.includes(path) === true ? {} : detailsOf(reply.body)),
    },
  });
}

function detailsOf(body: unknown): object {
  const details = (body as { error?: { details?: unknown } }).error?.details;
  return details === undefined ? {} : { details: expect.any(Object) };
}

type Check = (lane: number, sent: Sent, reply: Reply<never>) => Promise<void> | void;

/** Each lane with a seed of its own; a failure names the smallest case that fails. */
async function fuzz(api: ApiContract, route: keyof typeof SUCCESS, share: number, check: Check): Promise<void> {
  const { method, path } = CONTRACTS.flatMap((contract) => Object.entries(contract.routes)).find(
    ([name]) => name === route,
  )?.[1] ?? { method: 'GET' as const, path: '' };
  const operation = documentOf(api).paths[api.prefix + path]?.[method.toLowerCase()] ?? {};
  await Promise.all(
    lanes.map(({ house, key }, lane) => {
      const known = {
        siteId: [house.siteId],
        id: [house.materialId],
        haulerId: [house.haulerId, lanes[0]?.house.haulerId ?? ''],
        customerId: [CUSTOMER],
        truckId: [TRUCK],
        cameraId: ['front'],
        startTime: [at(0), at(-1)],
        endTime: [at(1), at(2)],
      };
      const sent = fc.record({
        bytes: bodies(documentOf(api), operation, known),
        query: queries(documentOf(api), operation, known),
        headers: fc.oneof({ weight: 3, arbitrary: PLAIN }, { weight: 1, arbitrary: strangeHeaders }),
      });
      const property = fc.asyncProperty(sent, async (one: Sent) => {
        const keyHeader = { [api.keyHeader]: api === SCALE_API ? house.key : key };
        const reply = await service.call<never>(method, `${api.prefix}${path}?${one.query}`, {
          headers: { ...one.headers, ...keyHeader },
          ...(one.bytes === undefined ? {} : { body: one.bytes }),
        });
        expectInContract(api, api.prefix + path, reply, SUCCESS[route]);
        if (isIn(SUCCESS[route], reply.status)) await check(lane, one, reply);
      });
      return fc.assert(property, { numRuns: Math.round((HOSTED_CASES * share) / LANES), seed: SEED + lane });
    }),
  );
}

const SUCCESS = {
  createTicket: [200],
  createAccount: [200],
  getSites: [200, 304],
  requestVideo: [202],
  listVideos: [200],
  listContinuous: [200],
} as const satisfies Record<string, readonly number[]>;

const isIn = (statuses: readonly number[], status: number) => statuses.includes(status);

const jsonOf = ({ bytes }: Sent) => JSON.parse(bytes?.toString('utf8') ?? '') as Record<string, never>;

/** As decision 5 reads it: null is absent. */
const withoutNulls = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== null));

const pick = (value: unknown, names: readonly string[]) =>
  Object.fromEntries(Object.entries(withoutNulls(value)).filter(([name]) => names.includes(name)));

describe('fuzzing of every hosted route, from its own document', () => {
  test('tickets: what is accepted is kept and read back equal', async () => {
    await fuzz(SCALE_API, 'createTicket', 0.3, async (lane, sent, reply: Reply<never>) => {
      const { disposalTicketId: id } = reply.body as { disposalTicketId: string };
      const house = lanes[lane]?.house as ScaleHouse;
      const body = jsonOf(sent);
      const result = reply.headers.get('ticket-result') ?? '';
      expect(['created', 'updated', 'stale', 'unchanged']).toContain(result);
      if (reply.headers.get('idempotency-replayed') !== null || result === 'unchanged') return;
      const last = (await house.revisions(id)).at(-1) as StoredRevision;
      expect([last.result, last.body]).toEqual([result, body]);
      if (result === 'stale') return;
      const stored = await house.stored(id);
      expect(contentsOf(stored)).toEqual(contentsOf(body));
    });
  }, 900_000);

  test('accounts: what is accepted is kept and read back equal', async () => {
    await fuzz(ACCOUNT_API, 'createAccount', 0.25, async (_lane, sent, reply: Reply<never>) => {
      const answered = reply.body as Record<string, unknown>;
      const body = jsonOf(sent);
      const stored = (await service.admin<Record<string, unknown>>('GET', `/accounts/${String(answered['accountId'])}`))
        .body;
      expect(stored).toMatchObject(answered);
      expect(stored['accountName']).toBe(body['accountName']);
      for (const name of ['billingAddress', 'primaryContact'] as const) {
        if (body[name] == null) expect(stored).not.toHaveProperty(name);
        else expect(stored[name]).toEqual({ ...pick(body[name], PARTS[name]), [`${IDS[name]}`]: expect.any(String) });
      }
    });
  }, 900_000);

  test('sites', () => fuzz(SITE_API, 'getSites', 0.1, () => undefined), 900_000);

  test('video requests: what is accepted is known by its id', async () => {
    await fuzz(VISION_API, 'requestVideo', 0.15, async (_lane, sent, reply: Reply<never>) => {
      const { requestId } = reply.body as { requestId: string };
      const rows = await service.dataSource.query<Record<string, unknown>[]>(
        'SELECT customer_id, truck_id, start_time, end_time FROM hosted_video_requests WHERE id = $1',
        [requestId],
      );
      const body = jsonOf(sent);
      expect(rows).toEqual([
        {
          customer_id: body['customerId'],
          truck_id: body['truckId'],
          start_time: new Date(body['startTime'] ?? ''),
          end_time: new Date(body['endTime'] ?? ''),
        },
      ]);
    });
  }, 900_000);

  test('list of videos', () => fuzz(VISION_API, 'listVideos', 0.1, () => undefined), 900_000);
  test('continuous list', () => fuzz(VISION_API, 'listContinuous', 0.1, () => undefined), 900_000);
});

const PARTS = {
  billingAddress: ['street', 'unit', 'city', 'state', 'country', 'zip'],
  primaryContact: ['firstName', 'lastName', 'email', 'phone'],
};
const IDS = { billingAddress: 'addressId', primaryContact: 'contactId' };

const ITEM = ['id', 'name', 'quantity', 'unitPriceCents', 'unitOfMeasure'];

/** What the newest push decides: its materials and custom fields (decision 21). */
function contentsOf(ticket: StoredTicket | Record<string, unknown>) {
  return {
    siteId: String(ticket.siteId).toLowerCase(),
    materials: (ticket.materials as Record<string, unknown>[]).map((item) => ({
      ...pick(item, ITEM),
      id: String(item['id']).toLowerCase(),
    })),
    customFields: ticket.customFields ?? undefined,
  };
}

/** Not called: what would end the fuzzing's own keys, or call addresses that the fuzzing invents. */
const LEFT_OUT = /connections|api-keys/;

test('the admin API: nothing that is sent makes it fail, every error is in the common body', async () => {
  const document = documentOf(ADMIN_API);
  const operations = Object.entries(document.paths)
    .filter(([path]) => !LEFT_OUT.test(path))
    .flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  expect(operations.length).toBeGreaterThan(15);
  const each = Math.max(5, Math.round(ADMIN_CASES / operations.length));
  const known = { haulerId: [lanes[0]?.house.haulerId ?? ''], id: [randomUUID()] };
  for (const { method, path, operation } of operations) {
    const sent = fc.record({
      id: fc.oneof(
        fc.uuid(),
        fc.constantFrom('x', '%00', '..%2f..', '%ff', 'null', 'A'.repeat(3_000)),
        fc.string({ minLength: 1 }).map((id) => encodeURIComponent(id.toWellFormed())),
      ),
      bytes: bodies(document, operation, known),
      query: queries(document, operation, known),
    });
    const property = fc.asyncProperty(sent, async ({ id, bytes, query }) => {
      const reply = await service.call(method, `${path.replace(/\{[^}]+\}/g, id)}?${query}`, {
        headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` },
        ...(bytes === undefined ? {} : { body: bytes }),
      });
      expectInContract(ADMIN_API, path, reply, [200, 201, 202, 204]);
    });
    await fc.assert(property, { numRuns: each, seed: SEED });
  }
}, 900_000);
