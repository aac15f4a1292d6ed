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

  it('is at most 40 KB for the first page, 64 KB for it and any other, and 104 KB for all pages', () => {
    expect([...contents.keys()].filter((name) => name.endsWith('.css'))).toHaveLength(1);
    expect(sizeOf(contents.keys())).toBeLessThan(104_000);
    expect(sizeOf(loaded(entry))).toBeLessThan(40_000);
    const pages = entry.flatMap(withPages);
    expect(pages.length).toBeGreaterThan(10);
    for (const page of pages) expect(sizeOf(loaded([...entry, page]))).toBeLessThan(64_000);
  });
});
