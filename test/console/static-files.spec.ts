import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';

const BUILD = join(import.meta.dirname, '../../dist/console');
const PAGES = [
  '',
  '/',
  ...['coverage', 'recordings', 'sync', 'tickets', 'accounts', 'exchanges'].map((page) => `/${page}`),
  ...['connections', 'keys', 'sandbox', 'actions'].map((page) => `/${page}`),
];

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

  it('are at most 72 KB of gzip in all', () => {
    const files = readdirSync(BUILD, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    const sizes = files.map((name) => gzipSync(readFileSync(join(BUILD, name))).length);
    expect(files.length).toBe(4);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(72_000);
  });
});
