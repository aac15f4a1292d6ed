import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database.drop());

test.concurrent.each(['1', '2'])(
  'a stop of %s processes serves requests for SHUTDOWN_DRAIN, while they are not ready',
  async (WEB_CONCURRENCY) => {
    const service = await startService({
      databaseUrl: database.url,
      env: { SHUTDOWN_DRAIN: '4s', WEB_CONCURRENCY },
    });
    const statusOf = async (path: string) =>
      (await fetch(service.url + path, { headers: { Connection: 'close' } })).status;
    expect(await statusOf('/health/ready')).toBe(200);
    const started = performance.now();
    const ended = service.end('SIGTERM');
    await eventually(async () => expect(await statusOf('/health/ready')).toBe(503));
    expect(await statusOf('/health/live')).toBe(200);
    expect((await service.admin('POST', '/haulers', { name: 'Late' })).status).toBe(201);
    expect(await ended).toBe(0);
    expect(performance.now() - started).toBeGreaterThan(4_000);
    await expect(statusOf('/health/live')).rejects.toThrow('fetch failed');
  },
  60_000,
);
