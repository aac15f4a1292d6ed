import { createHash } from 'node:crypto';
import type { HttpServer } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Application, Request, RequestHandler, Response } from 'express';
import type { Env } from '../config/env.js';
import { matchesEtag } from '../http/conditional-requests.js';
import { requestedOrigin } from '../http/url.js';
import { documentOf, type Publication, publicationsOf, SERVER_PLACEHOLDER, wholeDocument } from './documents.js';

/**
 * Swagger UI at `/docs` with a selector, and each document at `/docs/<name>.json` and `.yaml`. Documents are built when
 * they are first requested, so that the start does not wait for them. `/` redirects to `/docs`.
 */
export function serveDocuments(
  app: NestExpressApplication,
  { SIDES, PUBLIC_URL }: Pick<Env, 'SIDES' | 'PUBLIC_URL'>,
): void {
  const express = app.getHttpAdapter().getInstance() as Application;
  const publications = publicationsOf(SIDES);
  let whole: OpenAPIObject | undefined;
  const documents = new Map<Publication, OpenAPIObject>();
  const documentFor = (publication: Publication): OpenAPIObject => {
    whole ??= wholeDocument(app);
    const document = documents.get(publication) ?? documentOf(whole, publication);
    documents.set(publication, document);
    return document;
  };
  for (const publication of publications) {
    const path = `docs/${publication.api.name}`;
    const addressOf = (request: Request) => PUBLIC_URL?.replace(/\/+$/, '') ?? requestedOrigin(request);
    for (const format of ['json', 'yaml']) express.get(`/${path}.${format}`, cacheText(addressOf));
    SwaggerModule.setup(path, app, () => documentFor(publication), {
      ui: false,
      raw: ['json', 'yaml'],
      jsonDocumentUrl: `${path}.json`,
      yamlDocumentUrl: `${path}.yaml`,
    });
  }
  SwaggerModule.setup('docs', app, () => documentFor(publications[0]!), {
    explorer: true,
    raw: false,
    customSiteTitle: 'haulbridge interfaces',
    swaggerOptions: {
      urls: publications.map(({ api }) => ({ name: `${api.title} ${api.version}`, url: `/docs/${api.name}.json` })),
      persistAuthorization: false,
      displayRequestDuration: true,
    },
  });
  // The adapter knows the methods of its routes, for a 405.
  const adapter: HttpServer = app.getHttpAdapter();
  adapter.get('/', (_request: unknown, response: Response) => response.redirect('/docs'));
}

/**
 * Caches the document that the next handler sends, because writing the YAML of the largest one takes 100 ms and callers
 * need no key. Each response has the address at which the caller reaches the service, and an entity tag.
 */
export function cacheText(addressOf: (request: Request) => string): RequestHandler {
  let cached: { readonly type: string; readonly text: string } | undefined;
  return (request, response, next) => {
    const send = ({ type, text }: NonNullable<typeof cached>) => {
      const bytes = Buffer.from(text.replace(SERVER_PLACEHOLDER, () => addressOf(request)));
      const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
      response.setHeader('ETag', etag);
      if (matchesEtag(request.headers['if-none-match'], etag)) {
        response.removeHeader('Content-Type');
        response.status(304).end();
        return;
      }
      response.setHeader('Content-Type', type);
      response.setHeader('Content-Length', bytes.length);
      response.end(bytes);
    };
    if (cached !== undefined) return send(cached);
    response.send = (text: string) => {
      cached = { type: String(response.getHeader('Content-Type')), text };
      send(cached);
      return response;
    };
    next();
  };
}
