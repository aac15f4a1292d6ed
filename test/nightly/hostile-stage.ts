import { expect } from '@jest/globals';
import fc from 'fast-check';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { type ApiContract, type ErrorKind, KIND_STATUS } from '../../src/contracts/common/api-contract.js';
import { SCALE_API } from '../../src/contracts/scale/scale.api.js';
import { SITE_API } from '../../src/contracts/site/site.api.js';
import { VISION_API } from '../../src/contracts/vision/vision.api.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import type { Reply } from '../support/http.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/reference-vision.js';
import { Arbitraries, type Known, type OpenApiDocument, type Operation } from '../support/openapi-arbitrary.js';
import { ScaleHouse } from '../support/scale-house.js';
import { wholeDocument } from '../support/whole-document.js';

/** Each with a hauler of its own, so that what one has sent is still there when it looks. */
const LANES = 4;
const CONTRACTS: readonly ApiContract[] = [SCALE_API, ACCOUNT_API, SITE_API, VISION_API];

export interface Sent {
  readonly bytes: Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

interface Lane {
  readonly house: ScaleHouse;
  readonly key: string;
}

type Check = (lane: Lane, sent: Sent, reply: Reply<never>) => Promise<void> | void;

const SUCCESS = {
  createTicket: [200],
  createAccount: [200],
  getSites: [200, 304],
  requestVideo: [202],
  listVideos: [200],
  listContinuous: [200],
} as const satisfies Record<string, readonly number[]>;

type RouteName = keyof typeof SUCCESS;

const isIn = (statuses: readonly number[], status: number) => statuses.includes(status);

/** The service, its documents, and callers who send whatever can be made from them. */
export class HostileStage {
  /** Cases, and those that were accepted. */
  readonly counts = { cases: 0, accepted: 0 };

  private constructor(
    readonly service: TestApp,
    readonly lanes: readonly Lane[],
    private readonly documents: ReadonlyMap<string, OpenApiDocument>,
  ) {}

  static async open(): Promise<HostileStage> {
    const service = await startTestApp();
    const lanes: Lane[] = [];
    for (let lane = 0; lane < LANES; lane++) {
      const house = await ScaleHouse.open(service);
      const { key } = await issueKey(service, ['account', 'site', 'vision'], { haulerId: house.haulerId });
      await service.admin('PUT', `/hosted/haulers/${house.haulerId}/site-data`, {
        sites: [{ id: house.siteId, name: 'Site' }],
      });
      lanes.push({ house, key });
    }
    expect((await upload(service, 0)).status).toBe(201);
    const documents = new Map<string, OpenApiDocument>();
    for (const { name } of CONTRACTS) {
      documents.set(name, wholeDocument((await service.call<OpenApiDocument>('GET', `/docs/${name}.json`)).body));
    }
    return new HostileStage(service, lanes, documents);
  }

  /** So many cases of a route, each lane with a seed of its own; a failure names the smallest case that fails. */
  async fuzz(api: ApiContract, name: RouteName, cases: number, check: Check = () => undefined): Promise<void> {
    const route = Object.entries(api.routes).find(([known]) => known === name)?.[1];
    if (route === undefined) throw new Error(`${api.name} has no route ${name}`);
    const { method, path } = route;
    const document = this.documents.get(api.name);
    if (document === undefined) throw new Error(`no document of ${api.name}`);
    const operation = document.paths[api.prefix + path]?.[method.toLowerCase()] ?? {};
    const assertLane = (lane: Lane, index: number) => {
      const known = this.knownTo(lane);
      const sent = fc.record({
        bytes: bodies(document, operation, known),
        query: queries(document, operation, known),
        headers,
      });
      const property = fc.asyncProperty(sent, async (one: Sent) => {
        const keyHeader = { [api.keyHeader]: api === SCALE_API ? lane.house.key : lane.key };
        const reply = await this.service.call<never>(method, `${api.prefix}${path}?${one.query}`, {
          headers: { ...one.headers, ...keyHeader },
          ...(one.bytes === undefined ? {} : { body: one.bytes }),
        });
        this.expectInContract(api, api.prefix + path, reply, SUCCESS[name]);
        if (isIn(SUCCESS[name], reply.status)) await check(lane, one, reply);
      });
      return fc.assert(property, {
        numRuns: Math.round(cases / LANES),
        seed: (fc.readConfigureGlobal().seed ?? 0) + index,
      });
    };
    await Promise.all(this.lanes.map(assertLane));
  }

  private knownTo({ house }: Lane) {
    return {
      siteId: [house.siteId],
      id: [house.materialId],
      haulerId: [house.haulerId, this.lanes[0]?.house.haulerId ?? ''],
      customerId: [CUSTOMER],
      truckId: [TRUCK],
      cameraId: ['front'],
      startTime: [at(0), at(-1)],
      endTime: [at(1), at(2)],
    };
  }

  /** An answer that the contract allows: of the success, or an error of its closed set in the common body. */
  private expectInContract(api: ApiContract, path: string, reply: Reply, success: readonly number[]): void {
    this.counts.cases++;
    expect(reply.headers.get('x-request-id')).not.toBeNull();
    if (isIn(success, reply.status)) return void this.counts.accepted++;
    const kinds = (Object.keys(KIND_STATUS) as ErrorKind[]).filter((kind) => KIND_STATUS[kind] === reply.status);
    expect([reply.status, kinds.length]).toEqual([reply.status, 1]);
    expect(reply.status).toBeLessThan(500);
    const isPlain = Object.values(api.routes).some((route) => route.plainErrors && api.prefix + route.path === path);
    expect(reply.body).toEqual({
      success: false,
      error: {
        code: api.errors[kinds[0] ?? 'internal'],
        message: expect.stringMatching(/\S/),
        ...(isPlain ? {} : detailsOf(reply.body)),
      },
    });
  }

  close(): Promise<void> {
    return this.service.close();
  }
}

function detailsOf(body: unknown): object {
  const details = (body as { error?: { details?: unknown } }).error?.details;
  return details === undefined ? {} : { details: expect.any(Object) };
}

/** What no field expects. */
const JUNK: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  5e-324,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udc00x',
  '\u202e',
  '\r\nSet-Cookie: a=b',
  "'; DROP TABLE tickets; --",
  '${jndi:ldap://x}',
  '../../../../etc/passwd',
  '%00%2e%2e%2f',
  'x'.repeat(5_000),
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:60Z',
  '2026-02-30T00:00:00Z',
  'NaN',
  [],
  {},
  [[[[]]]],
  { toString: 'x', constructor: { prototype: 1 } },
  Array.from({ length: 1_100 }, () => 0),
];

const junk = fc.oneof(fc.constantFrom(...JUNK), fc.jsonValue({ maxDepth: 3 }));
const unusualName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'haulerId', 'id', 'disposalTicketId', 'createdAt', '', 'a.b', '\u0000'),
  fc.string(),
);

/** Steps into a value, each a share of what is there: they fit any value. */
type Change = (value: unknown, steps: readonly number[]) => unknown;

const changes: fc.Arbitrary<Change> = fc.oneof(
  junk.map((replacement): Change => somewhere(() => replacement)),
  fc.constant<Change>(somewhere(() => undefined)),
  fc
    .tuple(unusualName, junk)
    .map(([name, extra]): Change =>
      somewhere((value) => (isObject(value) ? withEntry(value, name, extra) : { [name]: value })),
    ),
  fc.constant<Change>(somewhere((value) => [value, value])),
  fc.constant<Change>(somewhere((value) => JSON.stringify(value) ?? '')),
  fc.integer({ min: 2, max: 60 }).map((depth): Change => somewhere((value) => nested(value, depth))),
);

/** A value with up to three faults somewhere in it. */
const mutated = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      arbitrary,
      fc.array(fc.tuple(changes, fc.array(fc.nat(7), { maxLength: 4 })), { minLength: 1, maxLength: 3 }),
    )
    .map(([value, faults]) => faults.reduce((changed, [change, steps]) => change(changed, steps), value));

/** The text of a value, whole or with faults in its bytes. */
const bytesOf = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(arbitrary, fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), { maxLength: 3 }))
    .map(([value, faults]) => {
      const bytes = Buffer.from(JSON.stringify(value) ?? '');
      for (const [place, byte] of faults) if (bytes.length > 0) bytes[Math.floor(place * (bytes.length - 1))] = byte;
      return bytes;
    });

/** Values of a header that HTTP lets through. */
const headerText = fc.oneof(
  fc.constantFrom('', 'x', 'a b', 'application/json; charset=latin1', '"', 'x'.repeat(300), 'gzip', '\xff'),
  fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
);

function somewhere(change: (value: unknown) => unknown): Change {
  const into = (value: unknown, steps: readonly number[]): unknown => {
    const [step, ...rest] = steps;
    if (step === undefined || typeof value !== 'object' || value === null) return change(value);
    const keys = Object.keys(value);
    const key = keys[step % Math.max(keys.length, 1)];
    if (key === undefined) return change(value);
    const inner = into((value as Record<string, unknown>)[key], rest);
    if (Array.isArray(value)) return value.map((element: unknown, i) => (String(i) === key ? inner : element));
    return withEntry(value, key, inner);
  };
  return into;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** By definition and not by assignment: `__proto__` must stand in the text like any other name. */
function withEntry(value: object, name: string, entry: unknown): object {
  return Object.defineProperty({ ...value }, name, { value: entry, enumerable: true, configurable: true });
}

function nested(value: unknown, depth: number): unknown {
  return depth === 0 ? value : [nested(value, depth - 1)];
}

/** Of four requests one has headers that make no sense. */
const unusualHeaders = fc.dictionary(
  fc.constantFrom('Idempotency-Key', 'X-Request-Id', 'Content-Type', 'Content-Encoding', 'Accept', 'If-None-Match'),
  headerText,
  { maxKeys: 2 },
);

/** Valid bodies, valid ones with a fault in a value or in the bytes, and bytes of no meaning; nothing where none is taken. */
function bodies(document: OpenApiDocument, operation: Operation, known: Known) {
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

/** Query strings, likewise. */
function queries(document: OpenApiDocument, operation: Operation, known: Known) {
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
  const unusual = fc.constantFrom('%ff=%fe', '[]=1', 'page=1&page=2', '__proto__=1', 'a[b]=c', 'page=%00', '&&&=', 'x');
  return fc.oneof(
    { weight: 3, arbitrary: values.map(pairs) },
    { weight: 3, arbitrary: mutated(values).map((value) => pairs(Object(value))) },
    { weight: 1, arbitrary: fc.tuple(values.map(pairs), unusual).map((both) => both.join('&')) },
  );
}

const wellFormed = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed().slice(0, 3_000);

const headers = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unusualHeaders });
