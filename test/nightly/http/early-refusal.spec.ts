import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { networkInterfaces } from 'node:os';
import { startTestApp, type TestApp } from '../../support/app.js';
import { startService } from '../../support/built-service.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse, TICKETS } from '../../support/scale-house.js';
import { SlowClient } from '../../support/slow-client.js';
import { createTestDatabase } from '../../support/test-database.js';

const MEBIBYTE = 1024 * 1024;

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

const head = (...lines: string[]) =>
  [`POST ${TICKETS} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');

const answered = (client: SlowClient, pattern: RegExp) => eventually(() => expect(client.answer).toMatch(pattern));

describe('a request that is refused before its body has arrived', () => {
  test.each([
    ['an unknown key', 401, [`Content-Length: ${MEBIBYTE}`]],
    ['a chunked body without a key', 401, ['Transfer-Encoding: chunked']],
  ])('of %s receives %i with Connection: close, also while it is still sending', async (_what, status, lines) => {
    const client = await SlowClient.open(service.url);
    client.send(head(...lines));
    await answered(client, new RegExp(`^HTTP/1.1 ${status} (?:.*\r\n)*?Connection: close\r\n`));
    await answered(client, /"code":"UNAUTHORIZED".*\}\}$/);
    // The service receives the rest for a while: a reset would destroy the response.
    client.send('x'.repeat(MEBIBYTE / 2));
    await answered(client, /\}\}$/);
    client.close();
  });
});

describe('Expect: 100-continue', () => {
  test('is granted after the key is accepted', async () => {
    const body = JSON.stringify(house.ticket());
    const client = await SlowClient.open(service.url);
    const key = `PLATFORM-API-KEY: ${house.key}`;
    client.send(head(key, 'Expect: 100-continue', `Content-Length: ${Buffer.byteLength(body)}`));
    await answered(client, /^HTTP\/1.1 100 Continue\r\n\r\n$/);
    client.send(body);
    await answered(client, /HTTP\/1.1 200 OK\r\n/);
    client.close();
  });

  test.each([
    ['without a key', 401, () => ['Content-Length: 2']],
    ['of a body that is too large', 413, () => [`PLATFORM-API-KEY: ${house.key}`, 'Content-Length: 9000000']],
  ])('%s is not granted: %i, and the connection closes', async (_what, status, lines) => {
    const client = await SlowClient.open(service.url);
    client.send(head('Expect: 100-continue', ...lines()));
    await answered(client, new RegExp(`^HTTP/1.1 ${status} (?:.*\r\n)*?Connection: close\r\n`));
    expect(client.answer).not.toContain('100 Continue');
    client.close();
  });
});

const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);

test('the address of a service that listens on IPv6 is logged as a URL that can be opened', async () => {
  if (!addresses.some(({ address }) => address === '::1')) throw new Error('this test needs the address ::1 of IPv6');
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
