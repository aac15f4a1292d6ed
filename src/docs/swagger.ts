import type { NestExpressApplication } from '@nestjs/platform-express';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { Application } from 'express';
import { documentOf, PUBLICATIONS, type Publication, wholeDocument } from './documents.js';
import { keptText } from './kept-text.js';

/**
 * Swagger UI at `/docs` with a selector, and each document at `/docs/<name>.json` and `.yaml`. Documents and their texts
 * are made once, when they are first asked for: a boot does not pay for them.
 */
export function serveDocuments(app: NestExpressApplication): void {
  const express = app.getHttpAdapter().getInstance() as Application;
  let whole: OpenAPIObject | undefined;
  const documents = new Map<Publication, OpenAPIObject>();
  const documentFor = (publication: Publication): OpenAPIObject => {
    whole ??= wholeDocument(app);
    const document = documents.get(publication) ?? documentOf(whole, publication);
    documents.set(publication, document);
    return document;
  };
  for (const publication of PUBLICATIONS) {
    const path = `docs/${publication.api.name}`;
    for (const form of ['json', 'yaml']) express.get(`/${path}.${form}`, keptText());
    SwaggerModule.setup(path, app, () => documentFor(publication), {
      ui: false,
      raw: ['json', 'yaml'],
      jsonDocumentUrl: `${path}.json`,
      yamlDocumentUrl: `${path}.yaml`,
    });
  }
  SwaggerModule.setup('docs', app, () => documentFor(PUBLICATIONS[0]!), {
    explorer: true,
    raw: false,
    customSiteTitle: 'haulbridge interfaces',
    swaggerOptions: {
      urls: PUBLICATIONS.map(({ api }) => ({ name: `${api.title} ${api.version}`, url: `/docs/${api.name}.json` })),
      persistAuthorization: true,
      displayRequestDuration: true,
    },
  });
}
