import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase } from '../../support/test-database.js';
import { startService } from '../../support/built-service.js';
import { testServer } from '../../support/test-run.js';

/** Runs in the process that starts the tier, not in a test: it may use the sources, to search for secrets at the end. */
export async function startTargetService(): Promise<{ end(): Promise<void> }> {
  const database = await createTestDatabase();
  const log = join(testServer().folder, 'acceptance-target.log');
  openSync(log, 'w');
  const env = { SANDBOX: 'true', ADMIN_READ_TOKEN: 'test-read-token-0123456789' };
  const service = await startService({ databaseUrl: database.url, env, logFile: log });
  process.env['ACCEPTANCE_URL'] = service.url;
  process.env['ACCEPTANCE_ADMIN_TOKEN'] = service.adminToken;
  process.env['ACCEPTANCE_READ_TOKEN'] = env.ADMIN_READ_TOKEN;
  process.env['ACCEPTANCE_LOG'] = log;
  return {
    async end() {
      delete process.env['ACCEPTANCE_URL'];
      await service.end();
      await database.drop();
    },
  };
}
