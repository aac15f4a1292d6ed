import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../../../support/app.js';
import type { Reply } from '../../../support/http.js';
import { rawRequest } from '../../../support/raw-request.js';
import { site, STAMP, type PlainSiteData } from '../../../support/site-data.js';

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
    key = (await service.admin<{ key: string }>('POST', '/api-keys', { interfaces: ['site'] })).body.key;
  });
  afterAll(() => service.close());
  beforeEach(() => {
    hauler = randomUUID();
  });

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

  describe('PUT /admin/v1/hosted/haulers/{haulerId}/site-data', () => {
    test('a fault deep in a large body has its path in the whole body', async () => {
      expect(await violations({ sites: [...many, site('z', { name: 1 })] })).toEqual(['sites[3000].name isLength']);
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

    test('accepts bodies beyond HTTP_BODY_LIMIT; of many at once, one is stored as a whole', async () => {
      const versions = Array.from({ length: 6 }, (_, i) => ({
        sites: Array.from({ length: 200 }, (_x, j) => site(`${i}-${j}`, { name: `version ${i}` })),
      }));
      const replies = await Promise.all(versions.map((version) => put(version)));
      expect(replies.map(({ status }) => status)).toEqual(versions.map(() => 200));
      const { sites } = await data();
      expect([sites.length, new Set(sites.map(({ name }) => name)).size]).toEqual([200, 1]);
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
