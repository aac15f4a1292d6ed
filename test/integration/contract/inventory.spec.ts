import { expect, test } from '@jest/globals';
import type { Application } from 'express';
import { startTestApp } from '../../support/app.js';
import type { OpenApiDocument } from '../../support/openapi-arbitrary.js';

/** The ninth of the OWASP API Security Top 10 (2023): a route that no document names is found by strangers alone. */
test('every route is documented, or listed here as public', async () => {
  const service = await startTestApp();
  const published = new Set<string>();
  for (const name of ['scale', 'account', 'site', 'vision', 'partner', 'admin']) {
    const { body } = await service.call<OpenApiDocument>('GET', `/docs/${name}.json`);
    for (const path of Object.keys(body.paths)) published.add(path.replace(/\{([^}]+)\}/g, ':$1'));
  }
  const express = service.app.getHttpAdapter().getInstance() as unknown as Application;
  const routes = express.router.stack.flatMap(({ route }) => (typeof route?.path === 'string' ? [route.path] : []));
  // The root redirects to the documents. The console has pages, files and its session, which partners do not use. A shared recording
  // is for people without an account.
  const open = /^\/$|^\/(console|docs|health|metrics|media\/v1|shared)(\/|\.|-|$)/;
  expect(routes.filter((path) => !published.has(path) && !open.test(path))).toEqual([]);
  expect(routes.length).toBeGreaterThan(published.size);
  await service.close();
});
