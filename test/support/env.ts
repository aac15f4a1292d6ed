import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv, type ResolvedEnv } from '../../src/core/config/env.js';
import { TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, testServer } from './test-run.js';

/**
 * A configuration as `resolveEnv` gives it: any free port, a data folder of its own, no log. `overrides` are settled
 * values, such as a duration in milliseconds.
 */
export function testEnv(overrides: Partial<ResolvedEnv> & Pick<ResolvedEnv, 'DATABASE_URL'>): ResolvedEnv {
  const env = readEnv({
    PORT: '0',
    DATABASE_URL: overrides.DATABASE_URL,
    DATA_DIR: mkdtempSync(join(testServer().folder, 'data-')),
    ADMIN_TOKEN: TEST_ADMIN_TOKEN,
    SECRETS_KEY: TEST_SECRETS_KEY,
    LOG_LEVEL: 'silent',
  });
  return { ...(env as ResolvedEnv), ...overrides };
}
