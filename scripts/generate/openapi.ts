import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createApp } from '../../src/app.setup.js';
import { readEnv, type ResolvedEnv } from '../../src/config/env.js';
import { documentOf, PUBLICATIONS, wholeDocument } from '../../src/docs/documents.js';
import type { Generator } from './generator.js';

/** The documents that the service serves, each with the placeholder for its address. */
export const openapi: Generator = async (database) => {
  const env = readEnv({
    DATABASE_URL: await database.url(),
    DATA_DIR: join(await database.folder(), 'data'),
    ADMIN_TOKEN: randomBytes(32).toString('base64url'),
    SECRETS_KEY: randomBytes(32).toString('hex'),
    LOG_LEVEL: 'silent',
  });
  const app = await createApp(env as ResolvedEnv);
  const whole = wholeDocument(app);
  const files = PUBLICATIONS.map((publication) => [
    `docs/openapi/${publication.api.name}.json`,
    `${JSON.stringify(documentOf(whole, publication), null, 2)}\n`,
  ]);
  await app.close();
  return Object.fromEntries(files) as Record<string, string>;
};
