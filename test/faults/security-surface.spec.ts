import { randomUUID } from 'node:crypto';
import type { Application } from 'express';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/reference-vision.js';
import type { OpenApiDocument } from '../support/openapi-arbitrary.js';
import { rawRequest } from '../support/raw-request.js';

/** The parts of the OWASP API Security Top 10 (2023) that concern all routes; the others are in `security.spec.ts`. */
let service: TestApp;
let visionKey: string;
beforeAll(async () => {
  service = await startTestApp();
  visionKey = (await issueKey(service, ['vision'])).key;
  expect((await upload(service, 0)).status).toBe(201);
});
afterAll(() => service.close());

const videos = (key: string, query: string) =>
  service.call<{ data: Record<string, unknown[]> }>('GET', `/video-platform/v1/videos${query}`, {
    headers: { 'API-KEY': key },
  });

describe('API8 security misconfiguration', () => {
  test.each(['TRACE', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])(
    '%s is not allowed, and no origin has access',
    async (method) => {
      const reply = await rawRequest(`${service.url}/platform-api/v1/tickets`, method, [
        'Origin',
        'https://evil.example',
      ]);
      expect(reply.status).toBe(405);
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  test('no input is returned as a header', async () => {
    const evil = 'a%0d%0aSet-Cookie:%20x=1';
    for (const path of [`/${evil}`, `/platform-api/v1/${evil}`, `/media/v1/recordings/${evil}.mp4`, `/docs/${evil}`]) {
      const { headers } = await service.call('GET', path);
      expect(headers.get('set-cookie')).toBeNull();
    }
    const split = await rawRequest(service.url, 'GET', ['X-Request-Id', 'a b', 'X-Forwarded-Host', 'evil.example']);
    expect(split.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('two lengths in one request, and other forms of request smuggling, are refused', async () => {
    const url = `${service.url}/platform-api/v1/tickets`;
    const both = await rawRequest(
      url,
      'POST',
      ['Transfer-Encoding', 'chunked', 'Content-Length', '5'],
      undefined,
    ).catch(() => ({ status: 400 }));
    expect(both.status).toBe(400);
  });

  test.each([
    ['another file', (path: string) => path.replace(/recordings\/[^.]+/, `recordings/${randomUUID()}`), 401],
    ['another kind', (path: string) => path.replace('recordings', 'clips'), 401],
    [
      'a later expiry',
      (path: string) => path.replace(/expires=(\d+)/, (_, at: string) => `expires=${Number(at) + 1}`),
      401,
    ],
    ['a shorter signature', (path: string) => path.slice(0, -2), 401],
    ['an empty signature', (path: string) => path.replace(/signature=.*/, 'signature='), 401],
    ['two signatures', (path: string) => `${path}&signature=x`, 401],
    ['no expiry', (path: string) => path.replace(/expires=\d+&/, ''), 401],
    [
      'a path outside of the folder',
      (path: string) => path.replace(/recordings\/[^.]+/, 'recordings/..%2f..%2f..%2fetc%2fpasswd'),
      401,
    ],
    ['no change', (path: string) => path, 200],
  ])('a signed link with %s', async (_what, change, status) => {
    const list = await videos(
      visionKey,
      `/continuous?customerId=${CUSTOMER}&truckId=${TRUCK}&startTime=${at(0)}&endTime=${at(1)}`,
    );
    const [first] = list.body.data['recordings'] as { downloadUrl: string }[];
    const { pathname, search } = new URL(first?.downloadUrl ?? '');
    expect((await rawRequest(service.url + change(pathname + search), 'GET', [])).status).toBe(status);
  });

  test.each(['..%2f..%2fetc%2fpasswd', '%2e%2e', '....//', 'x%00.mp4', '%5c..%5cwindows'])(
    'no path leads outside of the storage: %s',
    async (id) => {
      for (const path of [`/recordings/${id}/content`, `/recordings/${id}`]) {
        const { status } = await service.admin('GET', path);
        expect([400, 404]).toContain(status);
      }
    },
  );
});

test('API9 improper inventory management: every route is documented, or listed as public', async () => {
  const published = new Set<string>();
  for (const name of ['scale', 'account', 'site', 'vision', 'partner', 'admin']) {
    const { body } = await service.call<OpenApiDocument>('GET', `/docs/${name}.json`);
    for (const path of Object.keys(body.paths)) published.add(path.replace(/\{([^}]+)\}/g, ':$1'));
  }
  const express = service.app.getHttpAdapter().getInstance() as unknown as Application;
  const routes = express.router.stack.flatMap(({ route }) => (typeof route?.path === 'string' ? [route.path] : []));
  // The root redirects to the documents. The console has pages, files and its session, which partners do not use.
  const open = /^\/$|^\/(console|docs|health|metrics|media\/v1)(\/|\.|-|$)/;
  expect(routes.filter((path) => !published.has(path) && !open.test(path))).toEqual([]);
  expect(routes.length).toBeGreaterThan(published.size);
});
