import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application } from 'express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Side } from '../config/env.js';
import { documentOf, type Publication, publicationsOf, wholeDocument } from './documents.js';
import { keptText } from './kept-text.js';

/**
 * Swagger UI at `/docs` with a selector, and each document at `/docs/<name>.json` and `.yaml`. Documents and their texts
 * are made once, when they are first asked for: a boot does not pay for them. `/` leads there.
 */
export function serveDocuments(app: NestExpressApplication, sides: ReadonlySet<Side>): void {
  const express = app.getHttpAdapter().getInstance() as Application;
  const publications = publicationsOf(sides);
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
    for (const form of ['json', 'yaml']) express.get(`/${path}.${form}`, keptText());
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
      persistAuthorization: true,
      displayRequestDuration: true,
    },
  });
  express.get('/', (_request, response) => response.redirect('/docs'));
}
