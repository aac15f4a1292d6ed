import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { START_NOTICE_MS } from '../../src/sandbox/scenarios.repository.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { createTestDatabase } from '../support/test-database.js';

let proxy: TcpProxy;
let service: BuiltService;
beforeAll(async () => {
  const database = await createTestDatabase();
  const url = new URL(database.url);
  proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  service = await startService({ databaseUrl: url.href, env: { SANDBOX: 'true' } });
});
afterAll(() => service.end('SIGKILL'));

test('with the sandbox on and the database away, a call without its parameters does not end the process', async () => {
  const { body } = await service.admin<{ key: string }>('POST', '/api-keys', { interfaces: ['site'] });
  const get = (path: string) => fetch(service.url + path, { headers: { 'API-KEY': body.key } });
  const paths = [
    '/scale-platform/v1/sites',
    '/scale-platform/v1/sites?haulerId=',
    '/scale-platform/v1/sites?haulerId=a',
  ];
  // From now on the instance knows the key without the database.
  for (const path of paths) expect((await get(path)).status).toBe(400);
  proxy.cut();
  for (const path of paths) {
    // The table of scenarios is read at most once in this time.
    await delay(2 * START_NOTICE_MS);
    expect([400, 503]).toContain((await get(path)).status);
  }
  expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  expect(service.child.exitCode).toBeNull();
  expect(service.output()).not.toMatch(/unhandled/i);
});
