import type { HttpServer } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Application, Request, RequestHandler, Response } from 'express';
import type { Env } from '../config/env.js';
import { etagOf, readOnce, sendShared, sendStatic } from '../http/static-files.js';
import { requestedOrigin } from '../http/url.js';
import { readSwaggerPage, SWAGGER_FILES } from './swagger-page.js';
import { serveShelf } from './shelf.js';
import { documentOf, type Publication, publicationsOf, SERVER_PLACEHOLDER, wholeDocument } from './documents.js';

/**
 * Swagger UI at `/docs` with a selector, and each document at `/docs/<name>.json` and `.yaml`. Documents are built when
 * they are first requested, so that the start does not wait for them. Guides and downloads are below it. `/` redirects to `/docs`.
 */
export function serveDocuments(
  app: NestExpressApplication,
  { SIDES, PUBLIC_URL }: Pick<Env, 'SIDES' | 'PUBLIC_URL'>,
): void {
  const express = app.getHttpAdapter().getInstance() as Application;
  const publications = publicationsOf(SIDES);
  let whole: OpenAPIObject | undefined;
  const addressOf = (request: Request) => PUBLIC_URL?.replace(/\/+$/, '') ?? requestedOrigin(request);
  const documents = new Map<Publication, OpenAPIObject>();
  const documentFor = (publication: Publication): OpenAPIObject => {
    whole ??= wholeDocument(app);
    const document = documents.get(publication) ?? documentOf(whole, publication);
    documents.set(publication, document);
    return document;
  };
  for (const publication of publications) {
    const path = `docs/${publication.api.name}`;
    for (const format of ['json', 'yaml']) express.get(`/${path}.${format}`, cacheText(addressOf));
    SwaggerModule.setup(path, app, () => documentFor(publication), {
      ui: false,
      raw: ['json', 'yaml'],
      jsonDocumentUrl: `${path}.json`,
      yamlDocumentUrl: `${path}.yaml`,
    });
  }
  serveSwaggerPage(app, publications);
  serveShelf(app, addressOf);
  // The adapter knows the methods of its routes, for a 405.
  const adapter: HttpServer = app.getHttpAdapter();
  adapter.get('/', (_request: unknown, response: Response) => response.redirect('/docs'));
}

/** Swagger UI. The files are read at the first request. */
function serveSwaggerPage(app: NestExpressApplication, publications: readonly Publication[]): void {
  const adapter: HttpServer = app.getHttpAdapter();
  const urls = publications.map(({ api }) => ({
    name: `${api.title} ${api.version}`,
    url: `/docs/${api.name}.json`,
  }));
  const files = readOnce(() => readSwaggerPage(urls));
  for (const name of SWAGGER_FILES) {
    const send = async (request: Request, response: Response) => {
      sendStatic(request, response, (await files()).get(name)!);
    };
    adapter.get(`/docs/${name}`, send);
    if (name === 'index.html') adapter.get('/docs', send);
  }
}

/**
 * Caches the document that the next handler sends, because writing the YAML of the largest one takes 100 ms and callers
 * need no key. All responses share its bytes, around the address at which the caller reaches the service. Each address has
 * an entity tag of its own.
 */
function cacheText(addressOf: (request: Request) => string): RequestHandler {
  let cached: { readonly type: string; readonly parts: readonly Buffer[]; readonly digest: string } | undefined;
  return (request, response, next) => {
    const send = ({ type, parts, digest }: NonNullable<typeof cached>) => {
      const address = addressOf(request);
      const [before = Buffer.alloc(0), ...after] = parts;
      const etag = etagOf(digest + address);
      sendShared(request, response, { parts: [before, Buffer.from(address), ...after], etag }, type);
    };
    if (cached !== undefined) return send(cached);
    const { send: sendText } = response;
    response.send = (text: string) => {
      // The answer to a failure is not the document.
      if (response.statusCode !== 200) return sendText.call(response, text);
      const [before = '', ...after] = text.split(SERVER_PLACEHOLDER);
      const parts = [before, after.join(SERVER_PLACEHOLDER)].map((part) => Buffer.from(part));
      cached = { type: String(response.getHeader('Content-Type')), parts, digest: etagOf(text) };
      send(cached);
      return response;
    };
    next();
  };
}
