import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';

const BUILD = join(import.meta.dirname, '../../dist/console');
const APP = readFileSync(join(import.meta.dirname, '../../src/console/app.tsx'), 'utf8');
const PATHS = [...APP.matchAll(/path: '([a-z]+)'/g)].map(([, path]) => path ?? '');
const PAGES = ['', '/', ...new Set(PATHS.map((path) => `/${path}`))];

let service: TestApp;
beforeAll(async () => void (service = await startTestApp()));
afterAll(() => service.close());

const get = (path: string, headers: Record<string, string> = {}) => service.call<string>('GET', path, { headers });

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

  it('keep hashed files for ever, and send them compressed', async () => {
    const { text } = await get('/console');
    const addresses = [...text.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, address]) => address ?? '');
    expect(addresses).toHaveLength(3);
    for (const address of addresses) {
      const { status, headers } = await get(address, { 'Accept-Encoding': 'gzip' });
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(headers.get('content-encoding')).toBe('gzip');
      expect((await get(address, { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304);
      expect((await get(address, { 'Accept-Encoding': 'identity' })).headers.get('content-encoding')).toBeNull();
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

  it('are at most 40 KB of gzip for the first page, 64 KB for it and any other, and 104 KB in all', async () => {
    const files = readdirSync(join(BUILD, 'assets'));
    expect(files.filter((name) => name.endsWith('.css'))).toHaveLength(1);
    expect(sizeOf(files)).toBeLessThan(104_000);
    const { text } = await get('/console');
    const entry = [...text.matchAll(/"\/console\/assets\/([^"]+)"/g)].map(([, name]) => name ?? '');
    expect(sizeOf(withImports(entry))).toBeLessThan(40_000);
    const script = contentOf(entry.find((name) => name.endsWith('.js')) ?? '');
    const pages = [...script.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, name]) => name ?? '');
    expect(pages.length).toBeGreaterThan(10);
    for (const page of pages) expect(sizeOf(withImports([...entry, page]))).toBeLessThan(64_000);
  });
});

const contentOf = (name: string): string => readFileSync(join(BUILD, 'assets', name), 'utf8');

const sizeOf = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + gzipSync(contentOf(name)).length, 0);

/** These files and what their scripts import at once. What `import()` names is loaded with a page. */
function withImports(names: readonly string[]): string[] {
  const all = new Set(names);
  for (const name of all) {
    if (!name.endsWith('.js')) continue;
    for (const [, other] of contentOf(name).matchAll(/(?:from|import)"\.\/([^"]+)"/g)) all.add(other ?? '');
  }
  return [...all];
}
