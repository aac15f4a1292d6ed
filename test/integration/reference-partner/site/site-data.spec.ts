import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ReferenceSiteData } from '../../../../src/reference-partner/site/site-data.service.js';
import { issueKey } from '../../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import type { Reply } from '../../../support/http.js';
import { rawRequest } from '../../../support/raw-request.js';
import {
  ADDRESS,
  idOf,
  kiosk,
  material,
  type Plain,
  type PlainSiteData,
  site,
  STAMP,
} from '../../../support/site-data.js';

interface Body {
  success: boolean;
  data: Required<PlainSiteData>;
  error: { code: string; message: string; details: { violations: { path: string; rule: string; message: string }[] } };
}

describe('the Site API of the reference partner', () => {
  let service: TestApp;
  let key: string;
  let hauler: string;

  beforeAll(async () => {
    service = await startTestApp({ env: { HTTP_BODY_LIMIT: 2048 } });
    key = (await issueSiteKey()).key;
  });
  afterAll(() => service.close());
  beforeEach(() => {
    hauler = randomUUID();
  });

  /** Of no hauler, so not limited to one. */
  async function issueSiteKey(haulerId?: string): Promise<{ key: string }> {
    if (haulerId !== undefined) return issueKey(service, ['site'], { haulerId });
    return (await service.admin<{ key: string }>('POST', '/api-keys', { interfaces: ['site'] })).body;
  }
  const get = (query: string, headers: Record<string, string> = {}): Promise<Reply<Body>> =>
    service.call('GET', `/scale-platform/v1/sites${query}`, { headers: { 'API-KEY': key, ...headers } });
  const data = async () => (await get(`?haulerId=${hauler}`)).body.data;
  const put = (body: unknown, id = hauler): Promise<Reply<Body & Record<string, number>>> =>
    service.admin('PUT', `/hosted/haulers/${id}/site-data`, body);
  const violations = async (body: unknown) => {
    const { status, body: answer } = await put(body);
    expect(status).toBe(400);
    return answer.error.details.violations.map(({ path, rule }) => `${path} ${rule}`);
  };

  describe('responses (sections 2.4a, 4.3)', () => {
    test("the hauler's data, with the fields of the contract and no others", async () => {
      const given = {
        sites: [site('a', { address: ADDRESS, active: true, region: 'north' })],
        kiosks: [kiosk('k', 'a')],
        materials: [material('m', { siteId: idOf('a'), kioskId: idOf('k') })],
        depots: [],
      };
      expect((await put(given)).body).toEqual({ haulerId: hauler, sites: 1, kiosks: 1, materials: 1, active: 3 });
      const { status, headers, body } = await get(`?haulerId=${hauler}`);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^application\/json\b/);
      const plainSite = { ...given.sites[0], region: undefined };
      expect(body).toEqual({
        success: true,
        data: { sites: [plainSite], kiosks: given.kiosks, materials: given.materials },
      });
    });

    test('ids in lower case, instants in UTC, and null as absent (decisions 5, 6, 7)', async () => {
      await put({
        sites: [site('a', { id: idOf('a').toUpperCase(), updatedAt: '2026-01-15T12:00:00.5+02:00', active: null })],
      });
      expect((await data()).sites).toEqual([{ id: idOf('a'), name: 'Site a', updatedAt: '2026-01-15T10:00:00.500Z' }]);
    });

    test('active records only, and absent means active (decision 37)', async () => {
      const states = [{ active: true }, { active: false }, {}];
      await put({
        sites: states.map((state, i) => site(`s${i}`, state)),
        kiosks: states.map((state, i) => kiosk(`k${i}`, 's0', state)),
        materials: states.map((state, i) => material(`m${i}`, { siteId: idOf('s0'), ...state })),
      });
      const names = (records: Plain[]) => records.map(({ name, materialType }) => name ?? materialType).sort();
      const { sites, kiosks, materials } = await data();
      expect([names(sites), names(kiosks), names(materials)]).toEqual([
        ['Site s0', 'Site s2'],
        ['Kiosk k0', 'Kiosk k2'],
        ['Type m0', 'Type m2'],
      ]);
    });

    test('in a stable order that does not depend on the submitted order (decision 37)', async () => {
      const sites = Array.from({ length: 40 }, (_, i) => site(`s${i}`));
      await put({ sites });
      const first = await get(`?haulerId=${hauler}`);
      await put({ sites: sites.toReversed() });
      const second = await get(`?haulerId=${hauler}`);
      expect(second.text).toBe(first.text);
      expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
      expect(first.body.data.sites.map(({ id }) => id)).toEqual(sites.map(({ id }) => id as string).sort());
    });

    test('a hauler whose records are all inactive: 200 and empty arrays', async () => {
      await put({ sites: [site('a', { active: false })] });
      const { status, body } = await get(`?haulerId=${hauler}`);
      expect([status, body.data]).toEqual([200, { sites: [], kiosks: [], materials: [] }]);
    });

    test('compressed only for callers that accept gzip', async () => {
      await put({ sites: Array.from({ length: 50 }, (_, i) => site(`s${i}`)) });
      const path = `${service.url}/scale-platform/v1/sites?haulerId=${hauler}`;
      const raw = (coding: string) => rawRequest(path, 'GET', ['API-KEY', key, 'Accept-Encoding', coding]);
      const plain = await raw('identity');
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(Number(plain.headers['content-length'])).toBe(Buffer.byteLength(plain.text));
      for (const coding of ['gzip', 'br;q=1, gzip;q=0.5', '*']) {
        const { headers } = await raw(coding);
        expect([coding, headers['content-encoding']]).toEqual([coding, 'gzip']);
        expect(headers['vary']).toContain('Accept-Encoding');
      }
      expect((await raw('gzip;q=0')).headers['content-encoding']).toBeUndefined();
      expect((await get(`?haulerId=${hauler}`)).text).toBe(plain.text);
    });

    test('HEAD returns the length and no body', async () => {
      await put({ sites: [site('a')] });
      const path = `${service.url}/scale-platform/v1/sites?haulerId=${hauler}`;
      const whole = await rawRequest(path, 'GET', ['API-KEY', key]);
      const head = await rawRequest(path, 'HEAD', ['API-KEY', key]);
      expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(whole.text.length)]);
    });
  });

  describe('ETag and If-None-Match (decision 37)', () => {
    let etag: string;
    beforeEach(async () => {
      await put({ sites: [site('a')] });
      etag = (await get(`?haulerId=${hauler}`)).headers.get('etag') ?? '';
      expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
    });

    test.each<[string, (tag: string) => string, number]>([
      ['the same tag', (tag) => tag, 304],
      ['the same tag, strong', (tag) => tag.replace('W/', ''), 304],
      ['one of several', (tag) => `"other", ${tag}`, 304],
      ['any', () => '*', 304],
      ['another tag', () => '"other"', 200],
      ['an empty header', () => '', 200],
    ])('%s: %s', async (_what, header, expected) => {
      const { status, text, headers } = await get(`?haulerId=${hauler}`, { 'If-None-Match': header(etag) });
      expect(status).toBe(expected);
      if (expected === 304) expect([text, headers.get('etag')]).toEqual(['', etag]);
    });

    test.each<[string, PlainSiteData]>([
      ['a name', { sites: [site('a', { name: 'Other' })] }],
      ['a stamp', { sites: [site('a', { updatedAt: '2026-01-15T10:00:01Z' })] }],
      ['an addition', { sites: [site('a'), site('b')] }],
    ])('another tag once the data differs by %s', async (_what, changed) => {
      await put(changed);
      const { status, headers } = await get(`?haulerId=${hauler}`, { 'If-None-Match': etag });
      expect([status, headers.get('etag') === etag]).toEqual([200, false]);
    });
  });

  describe('refused requests (sections 5 and 7)', () => {
    test.each([
      ['absent', ''],
      ['empty', '?haulerId='],
      ['no UUID', '?haulerId=12'],
      ['a UUID in braces', `?haulerId={${idOf('a')}}`],
      ['twice', `?haulerId=${idOf('a')}&haulerId=${idOf('a')}`],
      ['nested', `?haulerId[a]=${idOf('a')}`],
    ])('haulerId %s: 400 with its violation', async (_what, query) => {
      const { status, body } = await get(query);
      expect([status, body.success, body.error.code]).toEqual([400, false, 'INVALID_PAYLOAD']);
      expect(body.error.details.violations).toEqual([
        { path: 'haulerId', rule: expect.any(String), message: expect.stringContaining('haulerId') },
      ]);
    });

    test('a hauler without any data: 404', async () => {
      const { status, body } = await get(`?haulerId=${hauler}`);
      expect([status, body.success, body.error.code]).toEqual([404, false, 'NOT_FOUND']);
    });

    test('a hauler whose data was replaced by empty data: 404', async () => {
      await put({ sites: [site('a')] });
      expect((await put({})).body).toMatchObject({ sites: 0, active: 0 });
      expect((await get(`?haulerId=${hauler}`)).status).toBe(404);
    });

    test("a key limited to one hauler opens that one, in either case, and no other's exists (decisions 6, 17)", async () => {
      const limitedTo = (await issueKey(service, ['site'])).haulerId;
      const limited = (await issueSiteKey(limitedTo)).key;
      await put({ sites: [site('a')] }, limitedTo);
      await put({ sites: [site('a')] });
      expect((await get(`?haulerId=${limitedTo}`, { 'API-KEY': limited })).status).toBe(200);
      expect((await get(`?haulerId=${limitedTo.toUpperCase()}`, { 'API-KEY': limited })).status).toBe(200);
      const { status, body } = await get(`?haulerId=${hauler}`, { 'API-KEY': limited });
      expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
    });

    test('unknown query parameters are ignored (decision 4), another method is 405', async () => {
      await put({ sites: [site('a')] });
      expect((await get(`?haulerId=${hauler}&since=yesterday`)).status).toBe(200);
      const { status, headers, body } = await service.call<Body>('POST', '/scale-platform/v1/sites');
      expect([status, headers.get('allow'), body.error.code]).toEqual([405, 'GET, HEAD', 'INVALID_PAYLOAD']);
    });
  });

  describe('PUT /admin/v1/hosted/haulers/{haulerId}/site-data', () => {
    test('replaces as a whole', async () => {
      await put({ sites: [site('a'), site('b')], kiosks: [kiosk('k', 'a')] });
      await put({ sites: [site('c')] });
      expect(await data()).toEqual({ sites: [site('c')], kiosks: [], materials: [] });
    });

    test('serves a material under each of its sites; with another unit it is refused', async () => {
      const sites = [site('a'), site('b')];
      const [inA, inB] = ['a', 'b'].map((name) => material('m', { siteId: idOf(name) }));
      await put({ sites, materials: [inB!, inA!] });
      const listed = (await data()).materials?.map(({ siteId }) => siteId as string);
      expect(listed).toEqual([idOf('a'), idOf('b')].sort());
      const faults = await violations({ sites, materials: [inA!, { ...inB!, measureUnit: 'Pound' }, inA!] });
      expect(faults).toEqual(['materials[1].id isUnique', 'materials[2].id isUnique']);
    });

    test('names every violation at once, and changes nothing', async () => {
      await put({ sites: [site('a')] });
      const faults = await violations({
        sites: [site('a', { name: 'x'.repeat(256) }), site('b', { id: 'b' }), site('a'), 7],
        kiosks: [kiosk('k', 'nowhere'), kiosk('l', 'a', { active: 'yes' })],
        materials: [
          material('m'),
          material('n', { siteId: idOf('nowhere'), kioskId: idOf('nokiosk') }),
          material('o', { siteId: 'here', measureUnit: 'Gallon' }),
          material('p', { kioskId: idOf('k'), materialType: '\u0001'.repeat(101) }),
          material('q', { siteId: idOf('a'), updatedAt: 'today' }),
          null,
        ],
      });
      expect(faults.sort()).toEqual(
        [
          'sites[0].name isLength',
          'sites[1].id isUuid',
          'sites[2].id isUnique',
          'sites[3] isObject',
          'kiosks[0].siteId isKnown',
          'kiosks[1].active isBoolean',
          'materials[0] hasParent',
          'materials[1].siteId isKnown',
          'materials[1].kioskId isKnown',
          'materials[2].siteId isUuid',
          'materials[2].measureUnit isEnum',
          'materials[3].materialType isLength',
          'materials[4].updatedAt isInstant',
          'materials[5] isObject',
        ].sort(),
      );
      expect((await data()).sites).toEqual([site('a')]);
    });

    test('a fault deep in a large body has its path in the whole body', async () => {
      expect(await violations({ sites: [...many, site('z', { name: 1 })] })).toEqual(['sites[3000].name isLength']);
    });

    test.each<[string, unknown, string]>([
      ['an array', [], ' isObject'],
      ['sites that are an object', { sites: {} }, 'sites isArray'],
      ['materials that are text', { materials: 'none' }, 'materials isArray'],
      [
        'an address without its city',
        { sites: [site('a', { address: { ...ADDRESS, city: undefined } })] },
        'sites[0].address.city isDefined',
      ],
    ])('%s: 400', async (_what, body, expected) => {
      expect(await violations(body)).toEqual([expected]);
    });

    const many = Array.from({ length: 3000 }, (_, i) => site(`many ${i}`));
    const withNote = (note: string) =>
      JSON.stringify({ sites: many }).replace(`"name":"Site many 2500"`, `"name":"x","note":${note}`);

    const tooDeep = `sites[2500].note${'[0]'.repeat(29)} maxDepth`;
    test.each<[string, string | Buffer, string]>([
      ['nothing', '', ' isJson'],
      ['bytes that are not UTF-8', Buffer.from('{"sites":["\xff"]}', 'latin1'), ' isUtf8'],
      ['HTML', '<html></html>', ' isJson'],
      ['truncated JSON', JSON.stringify({ sites: many }).slice(0, -3), ' isJson'],
      ['something behind the end', '{"sites":[]} {}', ' isJson'],
      ['brackets that only seem to match', '{"sites":[{}],[{}]}', ' isJson'],
      ['a list twice', '{"sites":[],"sites":[]}', 'sites isReadable'],
      ['U+0000 in an unknown field, far inside', withNote('"\\u0000"'), 'sites[2500].note isText'],
      ['a lone surrogate in the name of a field', withNote('{"\\ud800":1}'), 'sites[2500].note isText'],
      ['nesting without end', withNote('['.repeat(40) + ']'.repeat(40)), tooDeep],
      ['nesting as deep as a record has room for', withNote('['.repeat(500_000) + ']'.repeat(500_000)), tooDeep],
      ['deep nesting beside the lists', `{"x":${'['.repeat(40)}${']'.repeat(40)}}`, `x${'[0]'.repeat(31)} maxDepth`],
      ['a record of more than 1 MiB', withNote(JSON.stringify('x'.repeat(1_100_000))), 'sites[2500] maxSize'],
    ])('%s: 400 (decisions 8 and 10)', async (_what, body, expected) => {
      const [first] = await violations(body);
      expect(first).toBe(expected);
    });

    test('reports no other fault of a record of more than 1 MiB', async () => {
      const sites = [site('a', { name: 1, note: 'x'.repeat(1_100_000) })];
      expect(await violations({ sites })).toEqual(['sites[0] maxSize']);
    });

    test('reports faults of the text with all others, each path once', async () => {
      await put({ sites: [site('a')] });
      const far = `${JSON.stringify(many).slice(1, -1)},{"id":"z","name":"\\u0000"}`;
      const body = `{"sites":[{"id":"x","name":"\\u0000"},{"id":"y","a\\u0000":1},${far}],"kiosks":[{"id":1}],"\\ud800":1}`;
      const found = await violations(body);
      expect(found).toEqual([...new Set(found)]);
      expect(found.map((each) => each.split(' ')[0])).toEqual([...new Set(found.map((each) => each.split(' ')[0]))]);
      expect(found.slice(0, 4)).toEqual([
        ' isText',
        'sites[0].name isText',
        'sites[1] isText',
        'sites[3002].name isText',
      ]);
      expect(found).toEqual(
        expect.arrayContaining(['sites[0].id isUuid', 'sites[1].id isUuid', 'kiosks[0].id isUuid']),
      );
      expect((await data()).sites).toEqual([site('a')]);
    });

    test('reports at most a hundred faults of the text, and that there are more', async () => {
      const noted = many.map((each, i) => ({ ...each, note: i % 20 === 0 ? '\0' : 'x' }));
      const found = await violations(JSON.stringify({ sites: noted }));
      expect(found).toHaveLength(101);
      expect([found[99], found[100]]).toEqual(['sites[1980].note isText', ' maxFaults']);
      const inOne = await violations({ sites: [site('a', { notes: Array.from({ length: 101 }, () => '\0') })] });
      expect([inOne.length, inOne[99], inOne[100]]).toEqual([101, 'sites[0].notes[99] isText', ' maxFaults']);
    });

    const long = (bytes: number) => '{"kiosks":[]'.padEnd(bytes);
    const NOT_JSON = 'the body must be valid JSON';
    test.each([
      ['a missing value', '{"sites":[{"id":]}', NOT_JSON],
      ['a trailing comma behind a byte order mark', '\ufeff{\n"sites":[{"id":1,}]}', NOT_JSON],
      ['no end', long(12), NOT_JSON],
      ['no end of more than 1 MiB', long(1_048_577), 'the body is too large beside its records'],
    ])('malformed JSON is refused: %s', async (_what, body, message) => {
      const { status, body: answer } = await put(body);
      expect([status, answer.error.message]).toEqual([400, message]);
    });

    test('accepts 32 levels, counted from the body on, and refuses 33 (decision 8)', async () => {
      const noted = (levels: number) => ({
        sites: [{ ...site('a'), note: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown }],
      });
      expect((await put(noted(29))).status).toBe(200);
      expect((await put(noted(30))).status).toBe(400);
      const beside = (levels: number) => put(`{"x":${'['.repeat(levels)}${']'.repeat(levels)}}`);
      expect((await beside(31)).status).toBe(200);
      expect((await beside(32)).status).toBe(400);
      expect((await beside(40)).body.error.message).toMatch(/^x(\[0\])+ must not be nested deeper than 32$/);
    });

    test.each<[string, string]>([
      ['"\\u0000"', 'sites[2500].note must be valid Unicode without U+0000 and without lone surrogates'],
      [
        '{"\\u0000":1}',
        'sites[2500].note must have field names that are valid Unicode without U+0000 and without lone surrogates',
      ],
    ])('a note that is %s, far inside: the sentence names the place in the whole body', async (note, expected) => {
      const { body } = await put(withNote(note));
      expect(body.error.details.violations.map(({ message }) => message)).toEqual([expected]);
    });

    test('not sent as JSON: 415; more than 256 MB: 413, before the body is read', async () => {
      const headers = ['Authorization', `Bearer ${service.env.ADMIN_TOKEN}`];
      const url = `${service.url}/admin/v1/hosted/haulers/${hauler}/site-data`;
      expect((await rawRequest(url, 'PUT', [...headers, 'Content-Type', 'text/plain'], '{}')).status).toBe(415);
      const large = await rawRequest(url, 'PUT', [
        ...headers,
        'Content-Type',
        'application/json',
        'Content-Length',
        '268435457',
      ]);
      expect([large.status, large.text]).toEqual([413, expect.stringContaining('268435456 bytes')]);
    });

    test('accepts both links, also to a kiosk of another site, as in the sample response', async () => {
      const given = {
        sites: [site('a'), site('b')],
        kiosks: [kiosk('k', 'a')],
        materials: [material('m', { siteId: idOf('b'), kioskId: idOf('k') })],
      };
      expect((await put(given)).status).toBe(200);
      expect((await data()).materials).toEqual(given.materials);
    });

    test('an id that is no UUID: 400; no admin token: 401', async () => {
      expect((await put({}, 'hauler')).status).toBe(400);
      expect((await service.call('PUT', `/admin/v1/hosted/haulers/${hauler}/site-data`, { body: {} })).status).toBe(
        401,
      );
    });

    test('haulers do not share data', async () => {
      const other = randomUUID();
      await put({ sites: [site('a')] });
      await put({ sites: [site('a', { name: 'Of the other' })] }, other);
      expect((await data()).sites).toEqual([site('a')]);
    });

    test('accepts bodies beyond HTTP_BODY_LIMIT; of many at once, one is stored as a whole', async () => {
      const versions = Array.from({ length: 6 }, (_, i) => ({
        sites: Array.from({ length: 200 }, (_x, j) => site(`${i}-${j}`, { name: `version ${i}` })),
      }));
      const replies = await Promise.all(versions.map((version) => put(version)));
      expect(replies.map(({ status }) => status)).toEqual(versions.map(() => 200));
      const { sites } = await data();
      expect([sites.length, new Set(sites.map(({ name }) => name)).size]).toEqual([200, 1]);
      const [{ versionsKept }] = await service.dataSource.query<[{ versionsKept: number }]>(
        'SELECT count(DISTINCT version)::integer AS "versionsKept" FROM reference_site_data_chunks WHERE hauler_id = $1',
        [hauler],
      );
      expect(versionsKept).toBeLessThanOrEqual(2);
    });

    test('a response is 503 if its pieces were deleted before it began, and is interrupted if they are deleted later', async () => {
      await put({ sites: Array.from({ length: 20_000 }, (_, i) => site(`big${i}`, { updatedAt: STAMP })) });
      const without = (first: number) =>
        service.dataSource.query('DELETE FROM reference_site_data_chunks WHERE hauler_id = $1 AND position >= $2', [
          hauler,
          first,
        ]);
      const ask = () =>
        fetch(`${service.url}/scale-platform/v1/sites?haulerId=${hauler}`, { headers: { 'API-KEY': key } });
      await without(1);
      await expect(ask().then((response) => response.text())).rejects.toThrow();
      await without(0);
      const refused = await ask();
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, expect.any(String)]);
      expect(await refused.json()).toMatchObject({ success: false, error: { code: expect.any(String) } });
    });

    test('keeps the pieces of the previous version, and none of deleted data', async () => {
      const kept = service.app.get(ReferenceSiteData, { strict: false });
      await put({ sites: [site('a')] });
      const first = (await kept.find(hauler))!;
      await put({ sites: [site('b')] });
      const bytes = await kept.piece(first, 0);
      expect(bytes).toHaveLength(first.gzipLength);
      await put({ sites: [site('c')] });
      await expect(kept.piece(first, 0)).rejects.toThrow('replaced twice');
      await put({});
      const rows = 'SELECT FROM reference_site_data_chunks WHERE hauler_id = $1';
      expect(await service.dataSource.query<unknown[]>(rows, [hauler])).toEqual([]);
    });

    test('a response in progress survives a replacement', async () => {
      const big = Array.from({ length: 20_000 }, (_, i) => site(`big${i}`, { updatedAt: STAMP }));
      await put({ sites: big });
      const response = await fetch(`${service.url}/scale-platform/v1/sites?haulerId=${hauler}`, {
        headers: { 'API-KEY': key },
      });
      await put({ sites: [site('a')] });
      expect(((await response.json()) as Body).data.sites).toHaveLength(20_000);
      expect((await data()).sites).toHaveLength(1);
    });
  });
});
