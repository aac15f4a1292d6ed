import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BuiltService, peakMemory, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { reportFigures, shortOrLong } from '../support/faults.js';
import { SlowClient } from '../support/slow-client.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const CONNECTIONS = shortOrLong(50, 1_500);
const PIPELINED = 2_000;
/** The limit of the service (`SERVER_LIMITS.pipelined`). */
const MAX_PIPELINED = 64;
/** Without the limit a health check waited 114 s for 1,500 connections. */
const MAX_WAIT_MS = shortOrLong(10_000, 60_000);
const MAX_RSS_BYTES = 400 * 1024 * 1024;
const REQUEST = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';

let database: TestDatabase;
let service: BuiltService;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url });
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
});

const responsesOf = ({ answer }: SlowClient) => answer.split('HTTP/1.1 ').length - 1;

test('answers as many pipelined requests of a connection as may wait, and then further ones', async () => {
  const client = await SlowClient.open(service.url);
  client.send(REQUEST.repeat(MAX_PIPELINED));
  await eventually(() => expect(responsesOf(client)).toBe(MAX_PIPELINED));
  client.send(REQUEST.repeat(30));
  await eventually(() => expect(responsesOf(client)).toBe(MAX_PIPELINED + 30));
  expect(client.answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(MAX_PIPELINED + 30);
  client.close();
});

test(
  `${CONNECTIONS} connections that pipeline ${PIPELINED} requests each are closed, and others are answered meanwhile`,
  async () => {
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => SlowClient.open(service.url)));
    for (const client of clients) client.send(REQUEST.repeat(PIPELINED));
    const started = performance.now();
    const response = await fetch(`${service.url}/health/live`, { signal: AbortSignal.timeout(MAX_WAIT_MS) });
    const waitedMs = Math.round(performance.now() - started);
    expect(response.status).toBe(200);
    await Promise.all(clients.map(({ cutAfter }) => cutAfter));
    for (const client of clients) expect(responsesOf(client)).toBeLessThanOrEqual(MAX_PIPELINED);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    expect(peakMemory(service)).toBeLessThan(MAX_RSS_BYTES);
    reportFigures('pipelined requests', {
      connections: CONNECTIONS,
      'health waited ms': waitedMs,
      peakMiB: Math.round(peakMemory(service) / 1024 / 1024),
    });
  },
  MAX_WAIT_MS + 60_000,
);
