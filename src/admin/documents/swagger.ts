import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Application } from 'express';
import type { Env } from '../../core/config/env.js';
import { AppError } from '../../core/errors/app-error.js';
import { PAGE_HEADERS } from '../../core/http/headers.js';
import { requireRead, serveFolder } from '../../core/http/serve-folder.js';
import { PUBLICATIONS } from './publications.js';

/** Styles and the one script come from this service, and no form or frame has a use. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const NO_CACHE = { 'Cache-Control': 'no-cache' };
const HEADERS = { 'Content-Security-Policy': CONTENT_SECURITY_POLICY, ...NO_CACHE };
const UI_HEADERS = new Map([...PAGE_HEADERS, ...Object.entries(NO_CACHE)]);

/** What SwaggerModule answers below `/docs`. */
const UI_PATHS = new Set(['', 'swagger-ui-init.js']);

/** The page loads the documents of its selector. */
const NO_DOCUMENT = {} as OpenAPIObject;

/**
 * Swagger UI at `/docs` with a selector of the documents of the served sides, `/docs/<name>.json` and `.yaml`. Guides and downloads
 * are below it. All of them are files of the build (`scripts/build-docs.mjs`).
 */
export function serveDocuments(app: NestExpressApplication, { SIDES }: Pick<Env, 'SIDES'>): void {
  const isServed = ({ side }: (typeof PUBLICATIONS)[number]) => side === undefined || SIDES.has(side);
  const ofOtherSide = PUBLICATIONS.filter((each) => !isServed(each)).map(({ api }) => api.name);
  const hidden = new Set(ofOtherSide.flatMap((name) => [`${name}.json`, `${name}.yaml`]));
  const express = app.getHttpAdapter().getInstance() as Application;
  for (const path of ['/', '/docs/index.html']) {
    express.all(path, (request, response) => {
      requireRead(request);
      response.redirect('/docs');
    });
  }
  serveFolder(app, '/docs', 'docs', {
    namesOf: (path) => (hidden.has(path) ? [] : [path, `${path}.html`]),
    headersOf: () => HEADERS,
    otherwise(path, request, response) {
      if (!UI_PATHS.has(path)) {
        throw new AppError('notFound', `no document at ${request.path}; /docs/guides lists all of them`);
      }
      requireRead(request);
      response.setHeaders(UI_HEADERS);
    },
  });
  SwaggerModule.setup('docs', app, NO_DOCUMENT, {
    raw: false,
    explorer: true,
    customSiteTitle: 'haulbridge interfaces',
    customCssUrl: '/docs/page.css',
    customJs: '/docs/swagger-ui.js',
    swaggerOptions: {
      displayRequestDuration: true,
      urls: PUBLICATIONS.filter(isServed).map(({ api: { name, title, version } }) => ({
        name: `${title} ${version}`,
        url: `/docs/${name}.json`,
      })),
    },
  });
}
