import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../support/reference-vision.js';
import { ScaleHouse } from '../support/scale-house.js';
import { SlowClient } from '../support/slow-client.js';

/**
 * Short enough for a test; production has `SERVER_LIMITS`. The last two differ by more than a busy machine adds. Otherwise
 * the wrong one could end an upload.
 */
const LIMITS = {
  headers: 1_000,
  jsonBody: 1_200,
  unreadBody: 500,
  keepAlive: 2_000,
  check: 50,
  uploadPause: 2_000,
  silence: 4_500,
};
const ENOUGH_MS = 10_000;
/** The size of a JSON body in bytes: less than Node.js buffers before it is read. */
const LARGEST = 40_000;

let service: TestApp;
/** For a reader of a file. */
let impatient: TestApp;
let key: string;
/** More than any system buffers for a reader that has stopped. */
const large = Buffer.concat([demoVideo(2), Buffer.alloc(32 * 1024 * 1024)]);
beforeAll(async () => {
  service = await startTestApp({ limits: LIMITS, env: { HTTP_BODY_LIMIT: LARGEST } });
  impatient = await startTestApp({ on: service, limits: { ...LIMITS, readerPause: 1_500, fileAnswers: 1 } });
  expect((await upload(service, 2, {}, large)).status).toBe(201);
  ({ key } = await issueKey(service, ['scale', 'account', 'site', 'vision']));
});
afterAll(async () => {
  await impatient.close();
  await service.close();
});

const open = () => SlowClient.open(service.url);

const head = (method: string, path: string, headers: Record<string, string> = {}) =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}`;

const json = (length: number) => ({ 'Content-Type': 'application/json', 'Content-Length': String(length) });

async function cutOff(client: SlowClient): Promise<string> {
  expect(await client.cutAfter).toBeLessThan(ENOUGH_MS);
  return client.answer;
}

function expectTimeout(answer: string): void {
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toMatch(/connection: close/i);
  expect(answer).toContain('"success":false');
  expect(answer).toContain('"code":"INVALID_PAYLOAD"');
}

/** These tests run concurrently, because most of their time is waiting. */
describe('the connection of a slow caller is closed', () => {
  test.concurrent('that sends nothing', async () => expectTimeout(await cutOff(await open())));

  test.concurrent('that sends headers a byte at a time', async () => {
    const client = (await open()).send(head('GET', '/health/live')).sendForever('X', 20);
    expectTimeout(await cutOff(client));
  });

  test.concurrent('that sends the headers of a second request slowly', async () => {
    const client = (await open()).send(`${head('GET', '/health/live')}\r\n`);
    await eventually(() => expect(client.answer).toContain('200 OK'));
    client.send(head('GET', '/health/live')).sendForever('X', 20);
    expect(await cutOff(client)).toContain('408 Request Timeout');
  });

  test.concurrent.each(['tickets', 'accounts'])('that sends a JSON body a byte at a time: %s', async (route) => {
    const headers = { 'PLATFORM-API-KEY': key, ...json(LARGEST) };
    const client = (await open()).send(`${head('POST', `/platform-api/v1/${route}`, headers)}\r\n`);
    expectTimeout(await cutOff(client.sendForever(' ', 20)));
  });

  test.concurrent('that sends a JSON body without a length slowly', async () => {
    const headers = { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    const client = (await open()).send(`${head('POST', '/platform-api/v1/tickets', headers)}\r\n`);
    expectTimeout(await cutOff(client.sendForever('1\r\n{\r\n', 20)));
  });

  const sized: [Record<string, string>, string] = [json(1_000_000), 'x'];
  const chunked: [Record<string, string>, string] = [{ 'Transfer-Encoding': 'chunked' }, '1\r\nx\r\n'];
  test.concurrent.each([
    ['of a caller without a key', 'POST', '/platform-api/v1/tickets', 401, 'close', ...sized],
    ['of a route without a body', 'GET', '/health/live', 200, 'keep-alive', ...sized],
    ['of an unknown path', 'POST', '/nope', 404, 'close', ...sized],
    ['in chunks', 'POST', '/nope', 404, 'close', ...chunked],
  ])('that sends a large body which no route reads, %s: the response comes at once', async (...given) => {
    const [, method, path, status, connection, headers, piece] = given;
    const client = (await open()).send(`${head(method, path, headers)}\r\n`).sendForever(piece, 20);
    await eventually(() => expect(client.answer).toContain(`HTTP/1.1 ${status} `));
    expect(await cutOff(client)).toContain(`Connection: ${connection}\r\n`);
  });

  test.concurrent('that pauses an upload: 408, and nothing of it is kept', async () => {
    const query = new URLSearchParams({ customerId: CUSTOMER, truckId: 'slow', cameraId: 'front' });
    const path = `/admin/v1/hosted/recordings?${query.toString()}&startTime=${at(0)}&endTime=${at(1)}`;
    const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' };
    const client = (await open()).send(`${head('POST', path, { ...headers, 'Content-Length': '1000000' })}\r\n`);
    expectTimeout(await cutOff(client.send(demoVideo(0).subarray(0, 5_000))));
    expect((await upload(service, 0, { truckId: 'slow' })).status).toBe(201);
  });

  test.concurrent('but not one that uploads slowly without a pause', async () => {
    const bytes = demoVideo(1);
    const query = new URLSearchParams({ customerId: CUSTOMER, truckId: 'steady', cameraId: 'front' });
    const path = `/admin/v1/hosted/recordings?${query.toString()}&startTime=${at(1)}&endTime=${at(2)}`;
    const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' };
    const client = (await open()).send(
      `${head('POST', path, { ...headers, 'Content-Length': String(bytes.length) })}\r\n`,
    );
    // The timeout of Node.js for whole requests is too long for a test.
    expect(service.app.getHttpServer().requestTimeout).toBe(0);
    // Longer in total than a pause may be.
    const pieces = 16;
    const size = Math.ceil(bytes.length / pieces);
    for (let i = 0; i < pieces; i++) {
      client.send(bytes.subarray(i * size, (i + 1) * size));
      await new Promise((resolve) => setTimeout(resolve, LIMITS.uploadPause / 10));
    }
    await eventually(() => expect(client.answer).toContain('201 Created'));
    client.close();
  });

  test.concurrent('that stops reading a video; until then a second file is refused with 503', async () => {
    const list = await service.call<{ data: { recordings: { downloadUrl: string }[] } }>(
      'GET',
      `/video-platform/v1/videos/continuous?customerId=${CUSTOMER}&truckId=${TRUCK}&startTime=${at(0)}&endTime=${at(9)}`,
      { headers: { 'API-KEY': key } },
    );
    const { pathname, search } = new URL(list.body.data.recordings[0]?.downloadUrl ?? '');
    const cut = new Promise((resolve) => {
      impatient.app.getHttpServer().once('connection', (socket: Socket) => socket.once('close', resolve));
    });
    const reader = (await SlowClient.open(impatient.url)).send(`${head('GET', pathname + search)}\r\n`);
    await eventually(() => expect(reader.answer).toContain('200 OK'));
    reader.stopReading();
    const second = () => impatient.call('GET', pathname + search, { headers: { Range: 'bytes=0-9' } });
    await eventually(async () => {
      const { status, headers } = await second();
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    });
    expect((await impatient.call('HEAD', pathname + search)).status).toBe(200);
    // A reader whose connection was closed receives less than the whole file when it reads again.
    await cut;
    reader.read();
    await reader.cutAfter;
    expect(reader.received).toBeLessThan(large.length);
    await eventually(async () => expect((await second()).status).toBe(206));
  });
});

describe('a body in many pieces that has arrived before its key is known', () => {
  const CHUNKED = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  const asIs = (pieces: string[]) => pieces;
  const inChunks = (pieces: string[]) => [
    ...pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`),
    '0\r\n\r\n',
  ];

  test.each([
    ['is read as a whole', json(LARGEST), asIs, LARGEST, '200 OK'],
    ['is read as a whole in chunks', CHUNKED, inChunks, LARGEST, '200 OK'],
    ['is refused if it has one byte too many', CHUNKED, inChunks, LARGEST + 1, '413 Payload Too Large'],
  ])('%s', async (_what, headers, framed, size, status) => {
    const house = await ScaleHouse.open(service);
    const ticket = house.ticket({ customFields: { long: 'x'.repeat(3_000) } });
    const body = JSON.stringify(ticket).padEnd(size);
    const blocker = service.dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE');
    const client = (await open()).send(
      `${head('POST', '/platform-api/v1/tickets', { 'PLATFORM-API-KEY': house.key, ...headers })}\r\n`,
    );
    for (const piece of framed(body.match(/.{1,4000}/g) ?? [])) {
      client.send(piece);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await blocker.rollbackTransaction();
    await blocker.release();
    await eventually(() => expect(client.answer).toContain('HTTP/1.1 '));
    expect(client.answer).toContain(`HTTP/1.1 ${status}`);
    client.close();
  });
});
