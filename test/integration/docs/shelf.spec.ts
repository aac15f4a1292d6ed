import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { testServer } from '../../support/test-run.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const PUBLIC_URL = 'https://haul.example.com';
const GUIDES = ['partner-calling', 'partner-hosting', 'sandbox', 'admin', 'operator', 'spreadsheets', 'people'].map(
  (name) => `/docs/guides/${name}`,
);
/** Every guide, also those whose commands have no address of the service. */
const ALL_GUIDES = readdirSync(join(ROOT, 'docs/guides')).flatMap((name) => {
  return name.endsWith('.md') ? [`/docs/guides/${name.slice(0, -3)}`] : [];
});
const PAGES = [
  '/docs/guides',
  ...GUIDES,
  '/docs/clients',
  '/docs/changelog',
  '/docs/interfaces',
  '/docs/errors',
  '/docs/limits',
  '/docs/rules',
];

let service: TestApp;
let partner: TestApp;
beforeAll(async () => {
  service = await startTestApp({ env: { TRUST_PROXY: ['loopback'] } });
  partner = await startTestApp({ env: { SIDES: new Set(['partner']), PUBLIC_URL } });
});
afterAll(async () => {
  await service.close();
  await partner.close();
});

const get = (path: string, headers: Record<string, string> = {}, from = service) =>
  from.call<string>('GET', path, { headers });

const linksOf = (html: string) =>
  [...html.matchAll(/(?:href|src)="(\/[^"#]*)(?:#[^"]*)?"/g)].map(([, address = '']) => address);

describe('the documents that the service serves', () => {
  test.each(PAGES)('%s is a page with a strict policy, an entity tag, and a place in the navigation', async (path) => {
    const { status, headers, text } = await get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).not.toMatch(/<script(?! src="\/docs\/page\.mjs")|<style| style="| on\w+="/);
    const repeated = await get(path, { 'If-None-Match': headers.get('etag') ?? '' });
    expect([repeated.status, repeated.text, headers.get('cache-control')]).toEqual([304, '', 'no-cache']);
    if (path !== '/docs/guides') expect(text).toContain(`<a href="${path}" aria-current="page">`);
  });

  it('link to nothing that is absent, on both sides', async () => {
    for (const from of [service, partner]) {
      const pages = await Promise.all(['/docs', ...PAGES].map((path) => get(path, {}, from)));
      const addresses = [...new Set(pages.flatMap(({ text }) => linksOf(text)))];
      expect(addresses).toEqual(
        expect.arrayContaining([
          '/docs/conformance.mjs',
          '/docs/partner.json',
          '/docs/guides/sample-server.mjs',
          ...PAGES,
        ]),
      );
      for (const address of addresses) {
        expect([address, (await get(address, {}, from)).status]).toEqual([address, 200]);
      }
    }
  });

  it('link to anchors that exist', async () => {
    const ids = new Map<string, Set<string>>();
    const idsOf = async (path: string) => {
      const known =
        ids.get(path) ?? new Set([...(await get(path)).text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
      ids.set(path, known);
      return known;
    };
    for (const path of new Set([...PAGES, ...ALL_GUIDES])) {
      for (const [, page = '', id = ''] of (await get(path)).text.matchAll(/href="([^"#]*)#([^"]+)"/g)) {
        const target = page === '' ? path : page;
        if (target.startsWith('http')) continue;
        expect([path, target, id, (await idsOf(target)).has(id)]).toEqual([path, target, id, true]);
      }
    }
  });

  it('have the address of the caller, or PUBLIC_URL, in every command', async () => {
    for (const path of PAGES) {
      const { text } = await get(path);
      const other = await get(path, { Host: 'evil.example' }, partner);
      expect(text).not.toMatch(/127\.0\.0\.1:3000|https:\/\/(haulbridge|platform)\.example(?!\.com)|of-this-service/);
      expect([path, text.includes(service.url), other.text.includes(PUBLIC_URL)]).toEqual([path, true, true]);
      expect(other.text).not.toContain('evil.example');
    }
    const { text } = await get('/docs/guides/partner-calling');
    expect(text).toContain(`export URL=&quot;\${URL:-${service.url}}&quot;`);
  });

  test.each([
    [{ 'X-Forwarded-Host': 'a"><script>alert(1)</script>' }],
    [{ 'X-Forwarded-Proto': 'https"><script>alert(1)</script>' }],
    [{ 'X-Forwarded-Host': '$(touch hit)' }],
    [{ 'X-Forwarded-Host': "x'; rm -rf ~ #" }],
  ])('take no address from %j', async (headers) => {
    for (const path of ['/docs/guides/partner-calling', '/docs/scale.json']) {
      const { status, text } = await get(path, headers);
      expect(status).toBe(200);
      expect(text).not.toMatch(/<script>|\$\(touch|rm -rf/);
      if (path.endsWith('.json')) expect(() => void JSON.parse(text)).not.toThrow();
    }
  });

  it('behind a proxy have its address, and an entity tag of their own', async () => {
    const forwarded = { 'X-Forwarded-Host': 'haul.example.org', 'X-Forwarded-Proto': 'https' };
    const [here, there] = [await get(PAGES[1] ?? ''), await get(PAGES[1] ?? '', forwarded)];
    expect(there.text).toContain('${URL:-https://haul.example.org}');
    expect(there.headers.get('etag')).not.toBe(here.headers.get('etag'));
  });

  test.each([
    '/docs/nowhere',
    '/docs/guides/nowhere',
    '/docs/guides/..%2f..%2f..%2fpackage.json',
    '/docs/clients/python/x.py',
  ])('are 404 at %s', async (path) => expect((await get(path)).status).toBe(404));

  it('refuse another method with 405', async () => {
    expect((await service.call('POST', '/docs/changelog', { body: {} })).status).toBe(405);
  });
});

test('the kit and the clients that a partner downloads are those of the build, and run', async () => {
  const folder = mkdtempSync(join(testServer().folder, 'shelf-'));
  const readme = readFileSync(join(ROOT, 'clients/README.md'), 'utf8');
  const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(readme) ?? [];
  const env = { PATH: process.env['PATH'], URL: service.url };
  await run('sh', ['-euc', `${commands}\ncurl -sS --fail -o kit.mjs "$URL/docs/conformance.mjs"`], {
    cwd: folder,
    env,
  });
  const clients = readdirSync(join(ROOT, 'clients'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.split('/').at(-1) ?? '')
    .filter((name) => /\.(py|ts)$/.test(name));
  expect(readdirSync(folder).sort()).toEqual([...clients, 'kit.mjs'].sort());
  const { stdout } = await run(process.execPath, ['kit.mjs', '--list', '--role', 'site-server'], { cwd: folder });
  expect(stdout).toContain('SITE-');
});

test('the README has the answer that the service gives to its example of wrong input', async () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, request = '', answer = ''] =
    /\*\*Wrong input\.\*\*[\s\S]*?-d '([^']+)'\n```[^`]*```json\n([\s\S]*?)```/.exec(readme) ?? [];
  const { key } = await issueKey(service, ['account']);
  const { status, body } = await service.call('POST', '/platform-api/v1/accounts', {
    headers: { 'PLATFORM-API-KEY': key },
    body: JSON.parse(request) as object,
  });
  expect([status, body]).toEqual([400, JSON.parse(answer)]);
});
