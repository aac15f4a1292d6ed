import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import type { Application } from 'express';
import { startTestApp, type TestApp } from '../../support/app.js';
import type { OpenApiDocument } from '../../support/openapi-arbitrary.js';
import { testServer } from '../../support/test-run.js';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
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
  [service, partner] = await Promise.all([startTestApp(), startTestApp({ env: { SIDES: new Set(['partner']) } })]);
});
afterAll(async () => {
  await service.close();
  await partner.close();
});

const get = (path: string, headers: Record<string, string> = {}, from = service) =>
  from.call<string>('GET', path, { headers });

/** Of a page, and of the script that adds links to Swagger UI. */
const linksOf = (text: string) =>
  [...text.matchAll(/(?:href|src)=["'](\/[^"'#]*)(?:#[^"']*)?["']|^ {2}'(\/docs[^']*)': '/gm)].map(
    ([, address, added = '']) => address ?? added,
  );

describe('the documents that the service serves', () => {
  it('link to nothing that is absent, on both sides', async () => {
    for (const from of [service, partner]) {
      const pages = await Promise.all(['/docs', '/docs/swagger-ui.js', ...PAGES].map((path) => get(path, {}, from)));
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
});

test('the kit and the clients that a partner downloads are those of the build, and run', async () => {
  const folder = mkdtempSync(join(testServer().folder, 'downloads-'));
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

test('the partner side alone lists its own documents, and has no other', async () => {
  const { text } = await get('/docs/swagger-ui-init.js', {}, partner);
  const listed = [...text.matchAll(/"url": "\/docs\/(\w+)\.json"/g)].map(([, name]) => name);
  expect(listed).toEqual(['site', 'vision', 'partner', 'admin']);
  for (const name of ['scale', 'account']) expect((await get(`/docs/${name}.json`, {}, partner)).status).toBe(404);
});

/** The ninth of the OWASP API Security Top 10 (2023): a route that no document names is found by strangers alone. */
test('every route is documented, or listed here as public', async () => {
  const published = new Set<string>();
  for (const name of ['scale', 'account', 'site', 'vision', 'partner', 'admin']) {
    const { body } = await service.call<OpenApiDocument>('GET', `/docs/${name}.json`);
    for (const path of Object.keys(body.paths)) published.add(path.replace(/\{([^}]+)\}/g, ':$1'));
  }
  const express = service.app.getHttpAdapter().getInstance() as unknown as Application;
  const routes = express.router.stack.flatMap(({ route }) => (typeof route?.path === 'string' ? [route.path] : []));
  // The root redirects to the documents. The console has pages, files and its session, which partners do not use. A shared recording
  // is for people without an account.
  const open = /^\/$|^\/(console|docs|health|metrics|media\/v1|shared)(\W|$)/;
  expect(routes.filter((path) => !published.has(path) && !open.test(path))).toEqual([]);
  expect(routes.length).toBeGreaterThan(published.size);
});
