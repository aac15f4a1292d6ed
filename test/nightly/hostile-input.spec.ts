import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type DocumentName, faultsOf, OPERATIONS } from '../acceptance/support/documents.js';
import { Hauler, ONE_SITE, type Plain, TICKET } from '../acceptance/support/hauler.js';
import { at, HostedCustomer, TRUCK } from '../acceptance/support/hosted.js';
import { type OwnService, startOwnService } from '../acceptance/support/service.js';
import { administer, call, listed, read } from '../acceptance/support/target.js';
import { reportFigures } from '../support/faults.js';
import type { Reply } from '../support/http.js';
import { Arbitraries, type OpenApiDocument } from '../support/openapi-arbitrary.js';
import { wholeDocument } from '../support/whole-document.js';
import { bytesOf, headerText, mutated } from './mutations.js';

/** In all, by the share of each operation. */
const CASES = 90_000;
/** Each with a hauler of its own, so that what one has sent is still there when it looks. */
const LANES = 4;
const CASE_MS = 900_000;

interface Lane {
  readonly hauler: Hauler;
  readonly customer: HostedCustomer;
  readonly keys: Readonly<Record<string, string>>;
}
interface Sent {
  readonly bytes: Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

const counts = { cases: 0, accepted: 0 };
let service: OwnService;
let lanes: Lane[];
beforeAll(async () => {
  service = await startOwnService();
  lanes = await Promise.all(
    Array.from({ length: LANES }, async () => {
      const hauler = await Hauler.create({ service, sites: ONE_SITE });
      const customer = await HostedCustomer.create(service, { interfaces: ['site', 'vision'], haulerId: hauler.id });
      await administer('PUT', `/hosted/haulers/${hauler.id}/site-data`, ONE_SITE, service);
      await customer.record([0]);
      return { hauler, customer, keys: { 'PLATFORM-API-KEY': await hauler.key(), 'API-KEY': customer.key } };
    }),
  );
}, 120_000);
afterAll(() => reportFigures('hostile input', { ...counts, 'answers of 500': 0, lost: 0 }));

/** Values that make a request pass, by the name of the field or parameter. */
const knownTo = ({ hauler, customer }: Lane) => ({
  ...{ siteId: [TICKET.siteId], id: TICKET.materials.map(({ id }) => id), haulerId: [hauler.id] },
  ...{ customerId: [customer.id], truckId: [TRUCK], cameraId: ['front'] },
  ...{ startTime: [at(0), at(-1)], endTime: [at(1), at(2)] },
});

const documentOf = (name: DocumentName): OpenApiDocument =>
  wholeDocument(
    JSON.parse(readFileSync(join(import.meta.dirname, `../../dist/docs/${name}.json`), 'utf8')) as OpenApiDocument,
  );

/** Of four requests one has headers that make no sense. */
const headers = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom('Idempotency-Key', 'X-Request-Id', 'Content-Type', 'Content-Encoding', 'Accept', 'If-None-Match'),
      headerText,
      { maxKeys: 2 },
    ),
  },
);

/** Valid requests of an operation, valid ones with faults in values or bytes, and bytes of no meaning. */
function requests(name: string, lane: Lane): fc.Arbitrary<Sent> {
  const { document: documentName, method, path } = operationOf(name);
  const document = documentOf(documentName);
  const arbitraries = new Arbitraries(document, knownTo(lane));
  const { parameters = [], requestBody } = document.paths[path]?.[method.toLowerCase()] ?? {};
  const schema = requestBody?.content['application/json']?.schema;
  const valid = schema === undefined ? undefined : arbitraries.of(schema);
  const values = fc.record(
    Object.fromEntries(
      parameters.flatMap(({ in: place, name: parameter, schema: of, required }) => {
        const value = arbitraries.of(of, parameter).map(String);
        if (place !== 'query') return [];
        return [[parameter, required === true ? value : fc.option(value, { nil: undefined })]];
      }),
    ),
  );
  const unusual = fc.constantFrom('%ff=%fe', '[]=1', 'page=1&page=2', '__proto__=1', 'a[b]=c', 'page=%00', '&&&=', 'x');
  return fc.record<Sent>({
    headers,
    bytes:
      valid === undefined
        ? fc.constant(undefined)
        : fc.oneof(
            { weight: 3, arbitrary: valid.map((value) => Buffer.from(JSON.stringify(value))) },
            { weight: 4, arbitrary: mutated(valid).map((value) => Buffer.from(JSON.stringify(value) ?? '')) },
            { weight: 2, arbitrary: bytesOf(valid) },
            { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
          ),
    query: fc.oneof(
      { weight: 3, arbitrary: values.map(pairs) },
      { weight: 3, arbitrary: mutated(values).map((value) => pairs(Object(value))) },
      { weight: 1, arbitrary: fc.tuple(values.map(pairs), unusual).map((both) => both.join('&')) },
    ),
  });
}

const operationOf = (name: string) => OPERATIONS.find((each) => each.name === name && each.document !== 'admin')!;

/** Short: more than 16 KiB of headers are refused before any route is asked. */
const pairs = (fields: unknown): string =>
  Object.entries(fields as object)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(wellFormed(value))}`)
    .join('&')
    .slice(0, 8_000);

const wellFormed = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed().slice(0, 3_000);

type Check = (sent: Plain, reply: Reply<Plain>) => Promise<void>;

/** By decision 5, null is absent. */
const pick = (value: unknown, names: readonly string[]) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([name, field]) => field !== null && names.includes(name)));

/** The fields that the newest push sets: materials and custom fields (decision 21). */
const contentsOf = ({ siteId, materials, customFields }: Plain) => ({
  siteId: String(siteId).toLowerCase(),
  materials: (materials as Plain[]).map((item) => ({
    ...pick(item, ['name', 'quantity', 'unitPriceCents', 'unitOfMeasure']),
    id: String(item['id']).toLowerCase(),
  })),
  customFields: customFields ?? undefined,
});

const ticketIsStored: Check = async (sent, { body, headers: answered }) => {
  const result = answered.get('ticket-result') ?? '';
  expect(['created', 'updated', 'stale', 'unchanged']).toContain(result);
  if (answered.has('idempotency-replayed') || result === 'unchanged') return;
  const path = `/tickets/${String(body['disposalTicketId'])}`;
  expect((await listed<Plain>(`${path}/revisions`, service)).at(-1)).toMatchObject({ result, body: sent });
  if (result !== 'stale') expect(contentsOf(await read<Plain>(path, service))).toEqual(contentsOf(sent));
};

const PARTS: Readonly<Record<string, readonly [id: string, ...names: string[]]>> = {
  billingAddress: ['addressId', 'street', 'unit', 'city', 'state', 'country', 'zip'],
  primaryContact: ['contactId', 'firstName', 'lastName', 'email', 'phone'],
};

const accountIsStored: Check = async (sent, { body }) => {
  const stored = await read<Plain>(`/accounts/${String(body['accountId'])}`, service);
  expect(stored).toMatchObject(body);
  expect(stored['accountName']).toBe(sent['accountName']);
  for (const [name, [id, ...names]] of Object.entries(PARTS)) {
    const expected = sent[name] == null ? undefined : { ...pick(sent[name], names), [id]: expect.any(String) };
    expect(stored[name]).toEqual(expected);
  }
};

describe('hostile requests of every operation for partners, made from its own document, are answered as it says', () => {
  test.each<[string, number, Check?]>([
    ['createTicket', 0.3, ticketIsStored],
    ['createAccount', 0.25, accountIsStored],
    ['getSites', 0.1],
    ['requestVideo', 0.15],
    ['listVideos', 0.1],
    ['listContinuous', 0.1],
  ])(
    '%s, and what is accepted is stored and read back equal',
    async (name, share, check) => {
      const operation = operationOf(name);
      const ask = async ({ keys }: Lane, sent: Sent) => {
        const options = { headers: { ...sent.headers, ...keys }, ...(sent.bytes && { body: sent.bytes }) };
        const reply = await call<Plain>(operation.method, `${operation.path}?${sent.query}`, options, service);
        counts.cases++;
        expect([faultsOf(operation, reply), reply.headers.has('x-request-id')]).toEqual([[], true]);
        expect(reply.status).toBeLessThan(500);
        if (reply.status >= 300) return;
        counts.accepted++;
        await check?.(JSON.parse(String(sent.bytes)) as Plain, reply);
      };
      const seed = fc.readConfigureGlobal().seed ?? 0;
      await Promise.all(
        lanes.map((lane, index) => {
          const property = fc.asyncProperty(requests(name, lane), (sent) => ask(lane, sent));
          return fc.assert(property, { numRuns: Math.round((CASES * share) / LANES), seed: seed + index });
        }),
      );
    },
    CASE_MS,
  );
});
