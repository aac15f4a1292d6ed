import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Readable } from 'node:stream';
import { sendFile } from '../../../src/http/send-file.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { startService } from '../../support/built-service.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
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

  test('with a small body keeps its connection', async () => {
    const client = await SlowClient.open(service.url);
    client.send(`${head('Content-Length: 2')}{`);
    await answered(client, /^HTTP\/1.1 401 (?:.*\r\n)*?Connection: keep-alive\r\n/);
    client.send('}GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    await answered(client, /\{"status":"ok"\}$/);
    client.close();
  });
});

describe('a sign-in, whose caller is unknown', () => {
  const SIGN_IN = '/console/api/session';

  test('may have a body of 4 KiB', async () => {
    const statusOf = async (size: number) => {
      const body = JSON.stringify({ token: service.env.ADMIN_TOKEN }).padEnd(size);
      return (await service.call('POST', SIGN_IN, { headers: { 'X-Console': '1' }, body })).status;
    };
    expect(await statusOf(4_096)).toBe(200);
    expect(await statusOf(4_097)).toBe(413);
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

test('a caller that disconnects while the file is opened is no error, and the file is closed', async () => {
  const bytes = Readable.from([Buffer.from('data')]);
  const caller = new AbortController();
  let report: (sent: Promise<void>) => void;
  const sending = new Promise<{ sent: Promise<void> }>((done) => (report = (sent) => done({ sent })));
  const app = express().get('/file', (request, response) => {
    const open = async () => {
      caller.abort();
      await once(response, 'close');
      return bytes;
    };
    report(sendFile(request, response, { size: 4, etag: '"e"', contentType: 'video/mp4', open }));
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  const stop = held(async () => void (await new Promise((done) => server.close(done))));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await expect(fetch(`http://127.0.0.1:${port}/file`, { signal: caller.signal })).rejects.toThrow('aborted');
  const { sent } = await sending;
  await expect(sent).resolves.toBeUndefined();
  expect(bytes.destroyed).toBe(true);
  await stop();
});
