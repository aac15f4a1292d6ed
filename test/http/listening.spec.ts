import { networkInterfaces } from 'node:os';
import { expect, test } from '@jest/globals';
import { startService } from '../support/built-service.js';
import { createTestDatabase } from '../support/test-database.js';

const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
const withIpv6 = addresses.some(({ address }) => address === '::1') ? test : test.skip;

withIpv6('the address of a service that listens on IPv6 is logged as a URL that can be opened', async () => {
  const database = await createTestDatabase();
  try {
    const service = await startService({ databaseUrl: database.url, env: { HOST: '::1' } });
    expect(service.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    expect(await service.end('SIGTERM')).toBe(0);
  } finally {
    await database.drop();
  }
});
