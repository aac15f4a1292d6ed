import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../../support/raw-request.js';
import { ADDRESS, idOf, kiosk, material, type Plain, site } from '../../support/site-data.js';
import { type Answer, callClient } from '../support/clients.js';
import { type ErrorBody, Hauler } from '../support/hauler.js';
import type { Kind } from '../support/site.js';
import { admin, administer, call, target } from '../support/target.js';

/** The Site API that we host: what `PUT site-data` takes, and what the caller of section 4.3 reads. */
interface SitesBody extends ErrorBody {
  readonly data: Readonly<Record<Kind, readonly Plain[]>>;
}

let hauler: Hauler;
let key: string;
beforeAll(async () => {
  hauler = await Hauler.create();
  key = await hauler.key('site');
});

const path = (haulerId: string): string => `/hosted/haulers/${haulerId}/site-data`;
const put = (data: unknown, haulerId = hauler.id) => admin<Plain & ErrorBody>('PUT', path(haulerId), data);
const getSites = (query: Plain, of?: string, headers: Record<string, string> = {}): Promise<Answer<SitesBody>> =>
  callClient('getSites', { given: query, key: of, options: { headers } });
const read = async (): Promise<SitesBody['data']> => (await getSites({ haulerId: hauler.id }, key)).body.data;

/** A hauler with a key of its own, for a case that replaces the data. */
async function another(
  data: unknown,
): Promise<{ id: string; key: string; get: (headers?: Record<string, string>) => Promise<Answer<SitesBody>> }> {
  const own = await Hauler.create();
  const ownKey = await own.key('site');
  expect((await put(data, own.id)).status).toBe(200);
  return { id: own.id, key: ownKey, get: (headers = {}) => getSites({ haulerId: own.id }, ownKey, headers) };
}

const text = (length: number): string => 'x'.repeat(length);
const YARD = idOf('yard');
const WHOLE = {
  sites: [
    site('yard', { address: ADDRESS, active: true }),
    site('long', {
      name: text(255),
      address: { line1: text(255), city: text(100), state: text(100), country: text(100), zipCode: text(20) },
    }),
  ],
  kiosks: [kiosk('hut', 'yard', { name: text(255), active: true })],
  materials: [
    ...['Item', 'Ton', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter'].map((measureUnit) =>
      material(measureUnit, { siteId: YARD, measureUnit, materialType: text(100) }),
    ),
    material('of a kiosk', { kioskId: idOf('hut'), active: true }),
    material('of both', { siteId: YARD, kioskId: idOf('hut') }),
  ],
};
const byId = (records: readonly Plain[]): Plain[] =>
  records.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));

describe('the site data of the reference partner', () => {
  const FIELDS = [
    ...['success', 'data', 'data.sites', 'data.kiosks', 'data.materials'],
    ...['id', 'name', 'address', 'active', 'updatedAt'].map((field) => `Site ${field}`),
    ...['line1', 'city', 'state', 'country', 'zipCode'].map((field) => `Address ${field}`),
    ...['id', 'siteId', 'name', 'active', 'updatedAt'].map((field) => `Kiosk ${field}`),
    ...['id', 'siteId', 'kioskId', 'materialType', 'measureUnit', 'active', 'updatedAt'].map(
      (field) => `Material ${field}`,
    ),
    'links',
  ].join(', ');

  test(`is answered with all fields at their limits, as it was put (section 4.3 200, haulerId; section 2.4a ${FIELDS}; section 8 Site and kiosk name length, Address and material type lengths)`, async () => {
    expect((await put(WHOLE)).body).toEqual({ haulerId: hauler.id, sites: 2, kiosks: 1, materials: 8, active: 11 });
    const { status, headers, body } = await getSites({ haulerId: hauler.id }, key);
    expect([status, headers.get('content-type'), body.success]).toEqual([
      200,
      expect.stringMatching(/^application\/json/),
      true,
    ]);
    expect(Object.keys(body).sort()).toEqual(['data', 'success']);
    for (const kind of ['sites', 'kiosks', 'materials'] as const) {
      expect(byId(body.data[kind])).toEqual(byId(WHOLE[kind]));
    }
  });

  test('has lower-case ids and UTC, and neither null nor unknown fields (decisions 4, 5, 6, 7)', async () => {
    const { get } = await another({
      depots: [],
      sites: [
        site('a', { id: YARD.toUpperCase(), updatedAt: '2026-01-15T12:00:00.5+02:00', active: null, region: 'north' }),
      ],
    });
    expect((await get()).body.data.sites).toEqual([
      { id: YARD, name: 'Site a', updatedAt: '2026-01-15T10:00:00.500Z' },
    ]);
  });

  test('has active records only, and an absent active means active (decision 37)', async () => {
    const states = [{ active: true }, { active: false }, {}];
    const { get } = await another({
      sites: states.map((state, i) => site(`s${i}`, state)),
      kiosks: states.map((state, i) => kiosk(`k${i}`, 's0', state)),
      materials: states.map((state, i) => material(`m${i}`, { siteId: idOf('s0'), ...state })),
    });
    const { sites, kiosks, materials } = (await get()).body.data;
    const ids = (records: readonly Plain[]) => records.map(({ id }) => id).sort();
    const of = (...names: string[]) => names.map(idOf).sort();
    expect([ids(sites), ids(kiosks), ids(materials)]).toEqual([of('s0', 's2'), of('k0', 'k2'), of('m0', 'm2')]);
  });

  test('is in an order that does not depend on that of the PUT, with the same ETag (decision 37)', async () => {
    const sites = Array.from({ length: 20 }, (_, i) => site(`s${i}`));
    const own = await another({ sites });
    const first = await own.get();
    await put({ sites: sites.toReversed() }, own.id);
    const second = await own.get();
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
  });

  test('is 304 for its ETag and 200 after a change (decision 37)', async () => {
    const own = await another({ sites: [site('a')] });
    const etag = (await own.get()).headers.get('etag') ?? '';
    expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
    const url = `/scale-platform/v1/sites?haulerId=${own.id}`;
    const conditional = (tag: string) => call('GET', url, { headers: { 'API-KEY': own.key, 'If-None-Match': tag } });
    expect(await conditional(etag)).toMatchObject({ status: 304, text: '' });
    expect((await conditional('"other"')).status).toBe(200);
    await put({ sites: [site('a', { name: 'Renamed' })] }, own.id);
    expect((await conditional(etag)).status).toBe(200);
  });

  test('is the same with gzip and without, and each says its length (decision 37)', async () => {
    const own = await another(WHOLE);
    const answers = await Promise.all(
      ['gzip', 'identity', 'br, gzip;q=0'].map((coding) =>
        rawRequest(`${target.url}/scale-platform/v1/sites?haulerId=${own.id}`, 'GET', [
          ...['API-KEY', own.key],
          ...['Accept-Encoding', coding],
        ]),
      ),
    );
    const bodies = answers.map(({ bytes, headers }) => {
      expect(Number(headers['content-length'])).toBe(bytes.length);
      return headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    });
    expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', undefined, undefined]);
    for (const each of bodies) expect(JSON.parse(each.toString())).toEqual((await own.get()).body);
    expect(new Set(answers.map(({ headers }) => headers['etag'])).size).toBe(1);
  });

  test('of records that are all inactive is 200 with empty lists, and empty data is 404 again (section 4.3 404; section 7 404 Site; decision 37)', async () => {
    const own = await another({ sites: [site('a', { active: false })] });
    expect(await own.get()).toMatchObject({ status: 200, body: { data: { sites: [], kiosks: [], materials: [] } } });
    await put({}, own.id);
    expect(await own.get()).toMatchObject({ status: 404, body: { success: false, error: { code: 'NOT_FOUND' } } });
  });
});

/** One PUT with a broken record a row: all violations are named at once. */
interface BrokenRow {
  readonly row: string;
  readonly kind: Kind;
  readonly what: string;
  readonly record: unknown;
  /** The path behind the record, and the rule. */
  readonly violation: string;
}

const broken = (row: string, kind: Kind, what: string, record: unknown, violation: string): BrokenRow => ({
  ...{ row, kind, what, record, violation },
});
const inAddress = (field: string, value: unknown): Plain =>
  site(`address ${field} ${typeof value}`, { address: { ...ADDRESS, [field]: value } });
const make = {
  sites: (what: string, change: Plain) => site(`broken ${what}`, change),
  kiosks: (what: string, change: Plain) => kiosk(`broken ${what}`, 'yard', change),
  materials: (what: string, change: Plain) => material(`broken ${what}`, { siteId: YARD, ...change }),
};
const field = (row: string, kind: Kind, what: string, change: Plain, rule: string): BrokenRow =>
  broken(`section 2.4a ${row}`, kind, what, make[kind](`${row} ${what}`, change), `.${Object.keys(change)[0]} ${rule}`);

const ofEveryKind = (['sites', 'kiosks', 'materials'] as const).flatMap((kind): BrokenRow[] => {
  const noun = { sites: 'Site', kiosks: 'Kiosk', materials: 'Material' }[kind];
  return [
    field(`${noun} id`, kind, 'no id', { id: undefined }, 'isDefined'),
    field(`${noun} id`, kind, 'an id that is no UUID', { id: 'yard-1' }, 'isUuid'),
    field(`${noun} active`, kind, 'active as text', { active: 'yes' }, 'isBoolean'),
    field(`${noun} updatedAt`, kind, 'a time without an offset', { updatedAt: '2026-01-15T10:00:00' }, 'isInstant'),
    field(`${noun} updatedAt`, kind, 'a day that does not exist', { updatedAt: '2026-02-30T00:00:00Z' }, 'isInstant'),
    broken(`section 2.4a data.${kind}`, kind, 'a number as a record', 7, ' isObject'),
  ];
});

const BROKEN: BrokenRow[] = [
  ...ofEveryKind,
  broken('section 2.4a Site id', 'sites', 'the id of an earlier record', site('yard'), '.id isUnique'),
  field('Site name', 'sites', 'no name', { name: undefined }, 'isDefined'),
  field('Site name', 'sites', 'a number as name', { name: 7 }, 'isLength'),
  field(
    'Site name; section 8 Site and kiosk name length',
    'sites',
    'a name of 256 characters',
    { name: text(256) },
    'isLength',
  ),
  field('Site address', 'sites', 'text as address', { address: 'Austin' }, 'isObject'),
  ...Object.entries({ line1: 255, city: 100, state: 100, country: 100, zipCode: 20 }).flatMap(([part, max]) => [
    broken(
      `section 2.4a Address ${part}`,
      'sites',
      `an address without ${part}`,
      inAddress(part, undefined),
      `.address.${part} isDefined`,
    ),
    broken(
      `section 2.4a Address ${part}; section 8 Address and material type lengths`,
      'sites',
      `${part} of ${max + 1} characters`,
      inAddress(part, text(max + 1)),
      `.address.${part} isLength`,
    ),
    broken(
      `section 2.4a Address ${part}`,
      'sites',
      `a number as ${part}`,
      inAddress(part, 7),
      `.address.${part} isLength`,
    ),
  ]),
  field('Kiosk siteId', 'kiosks', 'no site', { siteId: undefined }, 'isDefined'),
  field('Kiosk siteId', 'kiosks', 'a site that is no UUID', { siteId: 'yard' }, 'isUuid'),
  field('Kiosk siteId', 'kiosks', 'an unknown site', { siteId: idOf('nowhere') }, 'isKnown'),
  field('Kiosk name', 'kiosks', 'no name', { name: undefined }, 'isDefined'),
  field(
    'Kiosk name; section 8 Site and kiosk name length',
    'kiosks',
    'a name of 256 characters',
    { name: text(256) },
    'isLength',
  ),
  field('Material siteId', 'materials', 'a site that is no UUID', { siteId: 'yard' }, 'isUuid'),
  field('Material siteId', 'materials', 'an unknown site', { siteId: idOf('nowhere') }, 'isKnown'),
  field('Material kioskId', 'materials', 'a kiosk that is no UUID', { kioskId: 'hut' }, 'isUuid'),
  field('Material kioskId', 'materials', 'an unknown kiosk', { kioskId: idOf('nowhere') }, 'isKnown'),
  broken('section 2.4a links', 'materials', 'neither site nor kiosk', material('orphan'), ' hasParent'),
  field('Material materialType', 'materials', 'no type', { materialType: undefined }, 'isDefined'),
  field(
    'Material materialType; section 8 Address and material type lengths',
    'materials',
    'a type of 101 characters',
    { materialType: text(101) },
    'isLength',
  ),
  field('Material measureUnit', 'materials', 'no unit', { measureUnit: undefined }, 'isDefined'),
  field('Material measureUnit', 'materials', 'a unit of tickets alone', { measureUnit: 'Gallon' }, 'isEnum'),
];

describe('PUT of site data', () => {
  let violations: readonly string[];
  let refusal: Awaited<ReturnType<typeof put>>;
  const listOf = (kind: Kind): unknown[] => [
    ...(kind === 'sites' ? [site('yard')] : []),
    ...BROKEN.filter((row) => row.kind === kind).map(({ record }) => record),
  ];
  beforeAll(async () => {
    await put(WHOLE);
    refusal = await put({ sites: listOf('sites'), kiosks: listOf('kiosks'), materials: listOf('materials') });
    violations = (refusal.body.error.details?.violations ?? []).map(({ path: at, rule }) => `${at} ${rule}`);
  });

  test.each(BROKEN)('with $what in $kind is 400 with the path ($row)', ({ kind, record, violation }) => {
    expect(violations).toContain(`${kind}[${listOf(kind).indexOf(record)}]${violation}`);
  });

  test('with any violation changes nothing, and names each one once (decision 11)', async () => {
    expect(refusal).toMatchObject({ status: 400, body: { success: false, error: { code: 'INVALID_PAYLOAD' } } });
    expect(violations).toHaveLength(BROKEN.length);
    expect(byId((await read()).sites)).toEqual(byId(WHOLE.sites));
  });

  test.each([
    ['a list as the body', []],
    ['sites as an object', { sites: {} }],
    ['materials as text', { materials: 'none' }],
  ])('with %s is 400 (section 2.4a data, data.sites, data.materials)', async (_, body) => {
    expect((await put(body, randomUUID())).status).toBe(400);
  });

  const many = Array.from({ length: 1_000 }, (_, n) => site(`many ${n}`));
  const withNote = (note: string) =>
    JSON.stringify({ sites: many }).replace('"name":"Site many 900"', `"name":"x","note":${note}`);

  test.each<[string, string, string]>([
    ['what is no JSON', '<html></html>', ' isJson'],
    ['an end that is missing', JSON.stringify({ sites: many }).slice(0, -3), ' isJson'],
    ['U+0000 in an unknown field, far inside', withNote('"\\u0000"'), 'sites[900].note isText'],
    [
      '33 levels, counted from the body on',
      withNote('['.repeat(30) + ']'.repeat(30)),
      `sites[900].note${'[0]'.repeat(29)} maxDepth`,
    ],
  ])('with %s is 400 with the place in the whole body (decisions 8, 10)', async (_, body, violation) => {
    const reply = await put(body, randomUUID());
    const [first] = reply.body.error.details?.violations ?? [];
    expect([reply.status, `${first?.path} ${first?.rule}`]).toEqual([400, violation]);
  });

  test('with more faults than an error names says so, and names 10,000 (decision 11)', async () => {
    const { status, body } = await put({ materials: Array.from({ length: 10_001 }, () => 0) }, randomUUID());
    const named = body.error.details?.violations ?? [];
    expect([status, named.length, named.at(-1)?.rule]).toEqual([400, 10_001, 'maxFaults']);
  });

  const MAX_BYTES = 32 * 1024 * 1024;

  /** Announces or sends more than the limit, and never ends the body. */
  const unended = (headers: Record<string, string>, bytes: number) =>
    new Promise<{ status?: number | undefined; text: string }>((resolve, reject) => {
      const sent = request(`${target.url}/admin/v1${path(randomUUID())}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${target.adminToken}`, 'Content-Type': 'application/json', ...headers },
      });
      sent.once('error', reject);
      sent.once('response', (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (part: string) => (answer += part));
        response.once('end', () => {
          sent.destroy();
          resolve({ status: response.statusCode, text: answer });
        });
      });
      sent.flushHeaders();
      if (bytes > 0) sent.write(Buffer.alloc(bytes, ' '));
    });

  test.each<[string, Record<string, string>, number]>([
    ['announces', { 'Content-Length': String(MAX_BYTES + 1) }, 0],
    ['sends in chunks', {}, MAX_BYTES + 1],
  ])(
    'that %s more than 32 MB is 413 before its end, and the limit is named (decision 9)',
    async (_, headers, bytes) => {
      const { status, text: answer } = await unended(headers, bytes);
      expect([status, JSON.parse(answer)]).toEqual([
        413,
        { success: false, error: { code: 'INVALID_PAYLOAD', message: expect.stringContaining(String(MAX_BYTES)) } },
      ]);
    },
  );

  test('of several at once stores one as a whole', async () => {
    const own = await another({});
    const versions = Array.from({ length: 4 }, (_, i) => many.map((each) => ({ ...each, name: `version ${i}` })));
    const replies = await Promise.all(versions.map((sites) => put({ sites }, own.id)));
    expect(replies.map(({ status }) => status)).toEqual(versions.map(() => 200));
    const { sites } = (await own.get()).body.data;
    expect([sites.length, new Set(sites.map(({ name }) => name)).size]).toEqual([1_000, 1]);
  });

  test('replaces the data as a whole, and leaves that of another hauler alone (decision 1)', async () => {
    const own = await another({ sites: [site('a')], kiosks: [kiosk('k', 'a')] });
    const other = await another({ sites: [site('a', { name: 'Of the other' })] });
    await put({ sites: [site('b')] }, own.id);
    expect((await own.get()).body.data).toEqual({ sites: [site('b')], kiosks: [], materials: [] });
    expect((await other.get()).body.data.sites).toEqual([site('a', { name: 'Of the other' })]);
  });
});

describe('GET /scale-platform/v1/sites', () => {
  const PATH = '/scale-platform/v1/sites';

  test.each([
    ['absent', ''],
    ['empty', '?haulerId='],
    ['no UUID', '?haulerId=12'],
    ['twice', `?haulerId=${YARD}&haulerId=${YARD}`],
    ['a UUID in braces', `?haulerId={${YARD}}`],
  ])(
    'with haulerId %s is 400 INVALID_PAYLOAD and names it (section 4.3 haulerId, 400; section 7 400 Site)',
    async (_, query) => {
      const { status, body } = await call<ErrorBody>('GET', PATH + query, { headers: { 'API-KEY': key } });
      expect([status, body.success, body.error.code]).toEqual([400, false, 'INVALID_PAYLOAD']);
      expect(body.error.details?.violations?.map(({ path: at }) => at)).toEqual(['haulerId']);
    },
  );

  test('of a hauler without data is 404 NOT_FOUND (section 4.3 404; section 7 404 Site)', async () => {
    const empty = await Hauler.create();
    const answer = await getSites({ haulerId: empty.id }, await empty.key('site'));
    expect(answer).toMatchObject({ status: 404, body: { success: false, error: { code: 'NOT_FOUND' } } });
  });

  test('with a key of another hauler is 404, as if there were no data (decisions 1, 17)', async () => {
    const own = await another({ sites: [site('a')] });
    expect(await getSites({ haulerId: own.id }, key)).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    });
  });

  test('with a key of all haulers reads any of them (decision 17)', async () => {
    const { key: ofAll } = await administer<{ key: string }>('POST', '/api-keys', { interfaces: ['site'] });
    expect((await getSites({ haulerId: hauler.id.toUpperCase() }, ofAll)).status).toBe(200);
  });

  test.each<[string, () => Promise<Record<string, string>>]>([
    ['no key', async () => ({})],
    ['a wrong key', async () => ({ 'API-KEY': 'wrong' })],
    ['a key of another interface', async () => ({ 'API-KEY': await hauler.key('scale') })],
    ['the key in the header of the platform', async () => ({ 'PLATFORM-API-KEY': key })],
  ])(
    'with %s is 401 UNAUTHORIZED, whatever the query (section 4.3 401; section 5 Site, rule 1; decision 3)',
    async (_, headers) => {
      for (const query of ['', `?haulerId=${hauler.id}`]) {
        const { status, body } = await call<ErrorBody>('GET', PATH + query, { headers: await headers() });
        expect([status, body.success, body.error.code]).toEqual([401, false, 'UNAUTHORIZED']);
        expect(JSON.stringify(body)).not.toContain('haulerId');
      }
    },
  );

  test('with an unexpected error is 500 INTERNAL_ERROR (section 4.3 500; section 7 500 all)', async () => {
    const { status, body } = await call<ErrorBody>('GET', `${PATH}?haulerId=${hauler.id}`, {
      headers: { 'API-KEY': key, 'Sandbox-Scenario': 'server-error' },
    });
    expect([status, body.success, body.error.code]).toEqual([500, false, 'INTERNAL_ERROR']);
  });

  test('ignores unknown query parameters (decision 4)', async () => {
    expect((await getSites({ haulerId: hauler.id, active: 'false' }, key)).status).toBe(200);
  });

  interface Document {
    readonly info: { readonly version: string };
    readonly servers?: readonly { readonly url: string }[];
    readonly paths: Readonly<Record<string, unknown>>;
  }

  test('stands in the document of version 1.0.0 with the five codes, and under no other major version (section 7 codes of Site; section 9 Site)', async () => {
    const { body, text: document } = await call<Document>('GET', '/docs/site.json');
    expect([body.info.version, Object.keys(body.paths)]).toEqual(['1.0.0', [PATH]]);
    const [, codes = ''] = /"enum":(\["INVALID_PAYLOAD"[^\]]*\])/.exec(document.replaceAll(/\s+/g, '')) ?? [];
    expect((JSON.parse(codes) as string[]).sort()).toEqual([
      'INTERNAL_ERROR',
      'INVALID_PAYLOAD',
      'NOT_FOUND',
      'UNAUTHORIZED',
      'VALIDATION_ERROR',
    ]);
    const other = await call('GET', PATH.replace('v1', 'v2'), { headers: { 'API-KEY': key } });
    expect(other.status).toBe(404);
  });
});
