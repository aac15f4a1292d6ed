import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { once } from 'node:events';
import { get } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Side } from '../../../src/config/env.js';
import { PUBLICATIONS, SERVER_PLACEHOLDER } from '../../../src/docs/documents.js';
import { startTestApp, type TestApp } from '../../support/app.js';

/** Sends a Host header of its own, which fetch does not allow. */
async function rawGet(service: TestApp, path: string, host: string): Promise<string> {
  const [response] = (await once(get(service.url + path, { agent: false, headers: { host } }), 'response')) as [
    Readable,
  ];
  return text(response);
}

const NAMES = PUBLICATIONS.map(({ api }) => api.name);

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Record<
    string,
    Record<string, { operationId: string; tags: string[]; responses: Record<string, unknown>; security?: unknown[] }>
  >;
  readonly components: { readonly securitySchemes: Record<string, { name?: string; scheme?: string }> };
}

let service: TestApp;
const served = new Map<string, Document>();

beforeAll(async () => {
  service = await startTestApp();
  for (const name of NAMES) {
    const { status, text: json } = await service.call('GET', `/docs/${name}.json`);
    expect(status).toBe(200);
    const body = JSON.parse(json.replace(service.url, SERVER_PLACEHOLDER)) as Document;
    served.set(name, body);
  }
});
afterAll(() => service.close());

describe.each(PUBLICATIONS.map(({ api }) => [api.name, api] as const))('the %s document', (name, api) => {
  it('has the version, the routes and the key header of its contract', () => {
    const document = served.get(name);
    expect(document?.info.version).toBe(api.version);
    for (const route of Object.values(api.routes)) {
      expect(document?.paths[api.prefix + route.path]?.[route.method.toLowerCase()]).toBeDefined();
    }
    const [scheme] = Object.values(document?.components.securitySchemes ?? {});
    expect(scheme?.name ?? scheme?.scheme).toBe(name === 'admin' ? 'bearer' : api.keyHeader);
  });

  it('requires a key for every operation, and documents 401 and 500', () => {
    for (const operations of Object.values(served.get(name)?.paths ?? {})) {
      for (const { security, responses } of Object.values(operations)) {
        expect(security?.length).toBeGreaterThan(0);
        expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '500']));
      }
    }
  });

  it('describes each tag that an operation has', () => {
    const { paths, tags } = served.get(name)!;
    const used = Object.values(paths).flatMap((operations) => Object.values(operations).flatMap((each) => each.tags));
    expect(new Set(used)).toEqual(new Set(tags.map((tag) => tag.name)));
  });

  it('names the address of the service that serves it', async () => {
    const { body } = await service.call<Document>('GET', `/docs/${name}.json`);
    expect(body.servers).toMatchObject([{ url: service.url }]);
    const other = await rawGet(service, `/docs/${name}.json`, 'proxy.example:8443');
    expect(other).toContain('"url":"http://proxy.example:8443"');
  });

  it('is also served as YAML', async () => {
    const { status, text } = await service.call('GET', `/docs/${name}.yaml`);
    expect(status).toBe(200);
    expect(text).toMatch(/^openapi: /);
  });
});

test.each([
  ['admin.json', 'application/json; charset=utf-8'],
  ['admin.yaml', 'text/yaml; charset=utf-8'],
])('/docs/%s has an entity tag, and is answered with 304 if the caller has it', async (name, type) => {
  const [first, again] = [await service.call('GET', `/docs/${name}`), await service.call('GET', `/docs/${name}`)];
  const etag = first.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  expect([again.status, again.headers.get('etag'), again.headers.get('content-type')]).toEqual([200, etag, type]);
  expect(again.text).toBe(first.text);
  expect(Number(again.headers.get('content-length'))).toBe(Buffer.byteLength(first.text));
  const known = await service.call('GET', `/docs/${name}`, { headers: { 'If-None-Match': `W/${etag}` } });
  expect([known.status, known.text, known.headers.get('etag')]).toEqual([304, '', etag]);
  const head = await service.call('HEAD', `/docs/${name}`);
  expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag]);
});

describe('all documents', () => {
  it('have operation ids and header descriptions that tools can use', () => {
    const operations = [...served.values()].flatMap(({ paths }) =>
      Object.values(paths).flatMap((item) => Object.values(item)),
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]*$/.test(id))).toEqual([]);
    const text = JSON.stringify([...served.values()]);
    expect(text).not.toContain('Access-Control-Allow-Origin');
    const sizes = [...text.matchAll(/"maxItems":(\d+)/g)].map(([, size]) => Number(size));
    // Example generators make arrays of this size.
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10_000);
    expect(text).not.toContain('"enum":["gzip"]');
  });
});

it.each<[Side, string[], string[]]>([
  ['platform', ['scale', 'account', 'partner', 'admin'], ['site', 'vision']],
  ['partner', ['site', 'vision', 'partner', 'admin'], ['scale', 'account']],
])('the %s side alone lists its own documents, and has no other', async (side, own, others) => {
  const service = await startTestApp({ env: { SIDES: new Set([side]) } });
  const { text } = await service.call('GET', '/docs/swagger-ui-init.js');
  expect([...text.matchAll(/"url": "\/docs\/(\w+)\.json"/g)].map(([, name]) => name)).toEqual(own);
  for (const name of own) {
    const { body } = await service.call<{ paths: object }>('GET', `/docs/${name}.json`);
    expect(Object.keys(body.paths)).not.toEqual([]);
  }
  for (const name of others) expect((await service.call('GET', `/docs/${name}.json`)).status).toBe(404);
  await service.close();
});
