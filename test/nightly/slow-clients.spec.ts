import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { ScaleHouse, TICKETS } from '../support/scale-house.js';
import { after, refuses, startScriptedPartner } from '../support/scripted-partner.js';
import { SlowClient } from '../support/slow-client.js';
import { createTestDatabase } from '../support/test-database.js';

/** Short enough for a test. They differ by more than a busy machine adds. `hostile-clients` has those of production. */
const LIMITS = { headers: 1_000, jsonBody: 1_200, unreadBody: 500, keepAlive: 2_000, check: 50, uploadPause: 2_000 };

let slow: TestApp;
let key: string;
/** With the limits of production. */
let normal: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  normal = await startTestApp();
  house = await ScaleHouse.open(normal);
  slow = await startTestApp({ limits: LIMITS });
  ({ key } = await issueKey(slow, ['scale', 'account']));
});
afterAll(() => Promise.all([slow.close(), normal.close()]));

const requestOf = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const postOf = (path: string, ...headers: string[]) =>
  requestOf(path, 'Content-Type: application/json', ...headers).replace('GET', 'POST');

/** These tests run concurrently, because most of their time is waiting. */
describe('the connection of a slow caller is closed', () => {
  const open = async (text = '') => (await SlowClient.open(slow.url)).send(text);

  /** Closed with an answer, within more time than any of the limits. */
  async function cutOff(client: SlowClient, status: string): Promise<string> {
    expect(await client.cutAfter).toBeLessThan(20_000);
    expect(client.answer).toContain(`HTTP/1.1 ${status} `);
    return client.answer;
  }

  test.concurrent.each<[string, string, string, string]>([
    ['headers a byte at a time', 'GET /health/live HTTP/1.1\r\nHost: x\r\n', 'X', 'Connection: close'],
    [
      'the headers of a second request slowly',
      `${requestOf('/health/live')}GET /health/live HTTP/1.1\r\nHost: x\r\n`,
      'X',
      '200 OK',
    ],
  ])('that sends %s', async (_what, text, piece, also) => {
    const client = await open(text);
    client.sendForever(piece, 20);
    const answer = await cutOff(client, '408');
    expect(answer).toContain('"code":"INVALID_PAYLOAD"');
    expect(answer).toContain(also);
  });

  test.concurrent.each([
    ['a ticket a byte at a time', 'tickets', 'Content-Length: 40000', ' '],
    ['an account a byte at a time', 'accounts', 'Content-Length: 40000', ' '],
    ['a ticket without a length slowly', 'tickets', 'Transfer-Encoding: chunked', '1\r\n{\r\n'],
  ])('that sends %s', async (_what, route, length, piece) => {
    const client = await open(postOf(`/platform-api/v1/${route}`, `PLATFORM-API-KEY: ${key}`, length));
    expect(await cutOff(client.sendForever(piece, 20), '408')).toContain('"code":"INVALID_PAYLOAD"');
  });
});

test('a check is not cut off while a partner takes longer than a connection may be silent', async () => {
  const service = await startTestApp({ limits: { silence: 3_000 }, env: { OUTBOUND_ALLOW_PRIVATE: true } });
  const partner = await startScriptedPartner();
  partner.on('GET /scale-platform/v1/sites', after(6_000, refuses(404, 'NOT_FOUND')));
  const { body: hauler } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Green Valley' });
  const connection = { haulerId: hauler.id, interface: 'site', baseUrl: partner.url, apiKey: 'k'.repeat(20) };
  const { body } = await service.admin<{ id: string }>('POST', '/connections', { ...connection, enabled: false });
  expect(await service.admin('POST', `/connections/${body.id}/check`)).toMatchObject({
    status: 200,
    body: { reachable: true },
  });
  await service.close();
  await partner.stop();
});

const MEBIBYTE = 1024 * 1024;
const answered = (client: SlowClient, pattern: RegExp) => eventually(() => expect(client.answer).toMatch(pattern));

describe('a request that is refused before its body has arrived', () => {
  test.each([
    ['an unknown key', 401, [`Content-Length: ${MEBIBYTE}`]],
    ['a chunked body without a key', 401, ['Transfer-Encoding: chunked']],
  ])('of %s receives %i with Connection: close, also while it is still sending', async (_what, status, lines) => {
    const client = await SlowClient.open(normal.url);
    client.send(postOf(TICKETS, ...lines));
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
    const client = await SlowClient.open(normal.url);
    const key = `PLATFORM-API-KEY: ${house.key}`;
    client.send(postOf(TICKETS, key, 'Expect: 100-continue', `Content-Length: ${Buffer.byteLength(body)}`));
    await answered(client, /^HTTP\/1.1 100 Continue\r\n\r\n$/);
    client.send(body);
    await answered(client, /HTTP\/1.1 200 OK\r\n/);
    client.close();
  });

  test.each([
    ['without a key', 401, () => ['Content-Length: 2']],
    ['of a body that is too large', 413, () => [`PLATFORM-API-KEY: ${house.key}`, 'Content-Length: 9000000']],
  ])('%s is not granted: %i, and the connection closes', async (_what, status, lines) => {
    const client = await SlowClient.open(normal.url);
    client.send(postOf(TICKETS, 'Expect: 100-continue', ...lines()));
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
