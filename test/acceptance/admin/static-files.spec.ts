import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, test } from '@jest/globals';
import { call } from '../support/target.js';

/** As the design names them ("Console pages"), and those that came later. */
const PATHS = [
  ...[
    'coverage',
    'recordings',
    'sync',
    'tickets',
    'accounts',
    'exchanges',
    'connections',
    'keys',
    'sandbox',
    'actions',
  ],
  ...['holds', 'retention', 'reports', 'haulers', 'webhooks', 'sessions'],
];
const PAGES = ['', '/', ...PATHS.map((path) => `/${path}`)];
const ASSETS = '/console/assets/';

const get = (path: string, headers: Record<string, string> = {}) => call<string>('GET', path, { headers });

/** The files that the first page names. */
const entryFiles = async (): Promise<string[]> =>
  [...(await get('/console')).text.matchAll(/"\/console\/assets\/([^"]+)"/g)].map(([, name]) => name ?? '');

describe('the files of the console', () => {
  test.each(PAGES)('answer /console%s with the page, and a policy that allows nothing but own files', async (path) => {
    const { status, headers, text } = await get(`/console${path}`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/<script(?![^>]* src="\/console\/assets\/)|<style|https?:/);
  });

  it('are kept for ever by the browser if their name has a hash, and are sent compressed', async () => {
    const names = await entryFiles();
    expect(names).toHaveLength(3);
    for (const name of names) {
      const { status, headers } = await get(ASSETS + name, { 'Accept-Encoding': 'gzip' });
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-encoding')).toBe('gzip');
      expect((await get(ASSETS + name, { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304);
      const plain = await get(ASSETS + name, { 'Accept-Encoding': 'identity' });
      expect(plain.headers.get('content-encoding')).toBeNull();
    }
  });

  test.each(['/console/assets/nowhere', '/console/assets/console.js', '/console/assets/..%2f..%2fpackage.json'])(
    'are 404 at %s',
    async (path) => expect((await get(path)).status).toBe(404),
  );

  test.each(['/console/nowhere', '/console/tickets/1', '/console/a/b/'])(
    'are the page, with status 404, at the mistyped address %s',
    async (path) => {
      const { status, headers } = await get(path);
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    },
  );
});

describe('the files of the service', () => {
  test.each(['/docs', '/docs/guides', '/docs/guides/admin', '/docs/scale.yaml', '/docs/page.css', '/console/tickets'])(
    '%s is 200 to HEAD, 304 to a caller that has it, and 405 to any other method (decision 10)',
    async (path) => {
      const { status, headers } = await call('HEAD', path);
      expect([status, Number(headers.get('content-length'))]).toEqual([200, expect.any(Number)]);
      const etag = headers.get('etag');
      if (etag !== null) expect((await get(path, { 'If-None-Match': etag })).status).toBe(304);
      const refused = await call('POST', path, { body: {} });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    },
  );

  test.each(['/docs', '/docs/'])(
    'Swagger UI at %s loads files that exist, and allows no script of others',
    async (path) => {
      const { text, headers } = await get(path);
      expect(headers.get('content-security-policy')).toContain("script-src 'self';");
      expect(text).not.toMatch(/<script(?![^>]* src=)/);
      const files = [...text.matchAll(/(?:src|href)=["']([^"']+)["']/g)].map(([, file = '']) => file);
      expect(files.length).toBeGreaterThan(6);
      for (const file of files) {
        const { pathname } = new URL(file, `http://x${path}`);
        expect([pathname, (await get(pathname)).status]).toEqual([pathname, 200]);
      }
    },
  );

  test.each(['/docs/nowhere', '/docs/guides/nowhere', '/docs/../package.json', '/docs/package.json', '/docs/docs/x'])(
    'none is at %s',
    async (path) => {
      const { status, headers } = await get(path);
      expect([status, headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
      expect((await call('POST', path, { body: {} })).status).toBe(404);
    },
  );

  test.each(['/console/nowhere', '/console/api/nowhere', '/console/assets/nowhere'])('POST %s is 404', async (path) =>
    expect((await call('POST', path, { body: {} })).status).toBe(404),
  );
});

describe('the size of the console with gzip', () => {
  /** The content of each file, by its name: what the first page names, and what the scripts import at once or with a page. */
  const contents = new Map<string, string>();
  let entry: string[];
  const imports = (name: string, pattern: RegExp) =>
    name.endsWith('.js') ? [...(contents.get(name) ?? '').matchAll(pattern)].map(([, other]) => other ?? '') : [];
  const atOnce = (name: string) => imports(name, /(?:from|import)"\.\/([^"]+)"/g);
  const withPages = (name: string) => imports(name, /import\("\.\/([^"]+)"\)/g);

  beforeAll(async () => {
    entry = await entryFiles();
    const names = new Set(entry);
    for (const name of names) {
      contents.set(name, (await get(ASSETS + name)).text);
      for (const other of [...atOnce(name), ...withPages(name)]) names.add(other);
    }
  });

  const sizeOf = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + gzipSync(contents.get(name) ?? '').length, 0);

  /** These files and what their scripts import at once. */
  function loaded(names: readonly string[]): Set<string> {
    const all = new Set(names);
    for (const name of all) for (const other of atOnce(name)) all.add(other);
    return all;
  }

  it('is at most 40 KB for the first page, and 80 KB for all pages', () => {
    expect([...contents.keys()].filter((name) => name.endsWith('.css'))).toHaveLength(1);
    expect(sizeOf(loaded(entry))).toBeLessThan(40_000);
    expect(entry.flatMap(withPages).length).toBeGreaterThan(0);
    expect(sizeOf(contents.keys())).toBeLessThan(80_000);
  });
});
