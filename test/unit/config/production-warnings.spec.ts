import { expect, test } from '@jest/globals';
import { productionWarnings } from '../../../src/core/config/production-warnings.js';
import { readEnv } from '../../../src/core/config/env.js';

const SWITCHES = ['OUTBOUND_ALLOW_PRIVATE', 'DEMO', 'SANDBOX'];
const env = {
  DATABASE_URL: 'postgres://h/d',
  ADMIN_TOKEN: 'test-admin-token-0123456789',
  SECRETS_KEY: '5a'.repeat(32),
};

test.each(SWITCHES)('%s alone is one warning, and none outside of production', (name) => {
  const source = { ...env, [name]: 'true', SANDBOX: String(name === 'SANDBOX') };
  const inProduction = productionWarnings(readEnv({ ...source, NODE_ENV: 'production' }));
  expect(inProduction).toEqual([
    expect.stringMatching(`^${name} is on .*\\. Set ${name}=false unless it is meant\\.$`),
  ]);
  expect(productionWarnings(readEnv({ ...source, npm_lifecycle_event: 'start:prod' }))).toEqual(inProduction);
  expect(productionWarnings(readEnv(source))).toEqual([]);
  expect(productionWarnings(readEnv({ ...env, NODE_ENV: 'production' }))).toEqual([]);
});
