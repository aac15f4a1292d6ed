import { expect, test } from '@jest/globals';
import { productionWarnings } from '../../../src/config/production-warnings.js';
import { readEnv } from '../../../src/config/env.js';
import { startService } from '../../support/built-service.js';
import { createTestDatabase } from '../../support/test-database.js';

const SWITCHES = ['OUTBOUND_ALLOW_PRIVATE', 'DEMO', 'SANDBOX'];
const env = {
  DATABASE_URL: 'postgres://h/d',
  ADMIN_TOKEN: 'test-admin-token-0123456789',
  SECRETS_KEY: '5a'.repeat(32),
};

test('the service warns at its start of each switch for development that is on in production', async () => {
  const { url: databaseUrl } = await createTestDatabase();
  const on = Object.fromEntries(SWITCHES.map((name) => [name, 'true']));
  const service = await startService({ databaseUrl, env: { NODE_ENV: 'production', ...on } });
  try {
    const lines = service.output().split('\n');
    for (const name of SWITCHES) {
      const [line, ...others] = lines.filter((each) => each.includes(`${name} is on in production: `));
      expect([JSON.parse(line ?? '{}'), others]).toMatchObject([{ level: 40 }, []]);
    }
  } finally {
    await service.end('SIGKILL');
  }
});

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
