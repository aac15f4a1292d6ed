import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { OpenAPIObject } from '@nestjs/swagger';
import { openApiOf } from '../../src/admin/documents/openapi.js';
import { PUBLICATIONS } from '../../src/admin/documents/publications.js';
import type { Generator } from './generator.js';

const ROOT = join(import.meta.dirname, '../..');

/** The document of each contract, by its name. The build serves the same. */
export const openApiDocuments = (): ReadonlyMap<string, OpenAPIObject> =>
  new Map(
    PUBLICATIONS.map(({ api }) => {
      const guide = readFileSync(join(ROOT, `docs/openapi/${api.name}.md`), 'utf8');
      return [api.name, openApiOf(api, guide)];
    }),
  );

/** Copies for partners and reviews. The admin API is that of the same version of the service: it has none. */
export const openapi: Generator = async () => {
  const config = await resolveConfig(join(ROOT, 'package.json'));
  const published = [...openApiDocuments()].filter(([name]) => name !== 'admin');
  const files = published.map(async ([name, document]) => [
    `docs/openapi/${name}.json`,
    await format(JSON.stringify(document), { ...config, parser: 'json' }),
  ]);
  return Object.fromEntries(await Promise.all(files)) as Record<string, string>;
};
