import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBrowserServer } from '../../support/browser.js';
import { type BuiltService, startService } from '../../support/built-service.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { CLIENT } from '../../support/identity-provider.js';
import { createTestDatabase } from '../../support/test-database.js';
import { testServer } from '../../support/test-run.js';
import { CONSOLE_TARGET, type ConsoleTarget, DEMO, VIEWER_TOKEN } from './demo.js';

/** What each group of the identity provider opens. `people.spec.ts` has a person of each. */
const OIDC_ROLES = [
  'viewer=readers',
  'viewer+video=watchers',
  'operator=dispatch',
  'admin=owners',
  `operator=demo@${DEMO.haulerId}`,
  `admin=depot@${DEMO.haulerId}`,
].join(',');

/**
 * Runs in the process that starts the tier, not in a test. The identity provider at `issuer` is started by the tests that sign
 * people in: nothing else calls it.
 */
export async function startConsoleTarget(): Promise<{ end(): Promise<void> }> {
  const database = await createTestDatabase();
  const log = join(testServer().folder, 'console-target.log');
  openSync(log, 'w');
  const port = await freePort();
  const issuer = `http://127.0.0.1:${await freePort()}`;
  const [service, browser] = await Promise.all([
    startService({ databaseUrl: database.url, logFile: log, env: environment(port, issuer) }),
    startBrowserServer(),
  ]);
  const target: ConsoleTarget = {
    url: service.url,
    adminToken: service.adminToken,
    databaseUrl: database.url,
    browser: browser.wsEndpoint(),
    issuer,
    keys: await demoKeys(service),
  };
  process.env[CONSOLE_TARGET] = JSON.stringify(target);
  process.env['CONSOLE_LOG'] = log;
  return {
    async end() {
      delete process.env[CONSOLE_TARGET];
      delete process.env['CONSOLE_LOG'];
      await browser.close();
      await service.end();
      await database.drop();
    },
  };
}

const environment = (port: number, issuer: string): Record<string, string> => ({
  PORT: String(port),
  PUBLIC_URL: `http://127.0.0.1:${port}`,
  DEMO: 'true',
  SANDBOX: 'true',
  // On a busy machine a read of a page takes longer, so that more of them run at the same time.
  DATABASE_POOL: '20',
  ADMIN_TOKENS: `eye:${VIEWER_TOKEN}:viewer`,
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: CLIENT.clientId,
  OIDC_CLIENT_SECRET: CLIENT.clientSecret,
  OIDC_ROLES,
});

/** Seconds suffice but on a machine that does much else. */
const FILL_LIMIT_MS = 240_000;

/** When the demo is complete: the welcome is the last thing that the service prints. */
async function demoKeys(service: BuiltService): Promise<ConsoleTarget['keys']> {
  await eventually(() => {
    if (!service.output().includes('Swagger UI')) throw new Error(`the demo is not complete: ${service.output()}`);
  }, FILL_LIMIT_MS);
  return JSON.parse(readFileSync(join(service.dataDir, 'demo-keys.json'), 'utf8')) as ConsoleTarget['keys'];
}
