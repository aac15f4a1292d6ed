import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { at, CUSTOMER, demoVideo, upload } from '../support/reference-vision.js';
import { SlowClient } from '../support/slow-client.js';
import { TEST_ADMIN_TOKEN } from '../support/test-run.js';

/** Short enough for a test. They differ by more than a busy machine adds. `hostile-clients` has those of production. */
const LIMITS = { headers: 1_000, jsonBody: 1_200, unreadBody: 500, keepAlive: 2_000, check: 50, uploadPause: 2_000 };

let slow: TestApp;
let key: string;
beforeAll(async () => {
  slow = await startTestApp({ limits: LIMITS });
  ({ key } = await issueKey(slow, ['scale', 'account']));
});
afterAll(() => slow.close());

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
    ['nothing', '', '', 'Connection: close'],
    ['headers a byte at a time', 'GET /health/live HTTP/1.1\r\nHost: x\r\n', 'X', 'Connection: close'],
    [
      'the headers of a second request slowly',
      `${requestOf('/health/live')}GET /health/live HTTP/1.1\r\nHost: x\r\n`,
      'X',
      '200 OK',
    ],
  ])('that sends %s', async (_what, text, piece, also) => {
    const client = await open(text);
    if (piece !== '') client.sendForever(piece, 20);
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

  test.concurrent.each([
    ['of a caller without a key', postOf('/platform-api/v1/tickets', 'Content-Length: 1000000'), '401', 'x'],
    ['of a route without a body', requestOf('/health/live', 'Content-Length: 1000000'), '200', 'x'],
    ['of an unknown path', postOf('/nope', 'Content-Length: 1000000'), '404', 'x'],
    ['in chunks', postOf('/nope', 'Transfer-Encoding: chunked'), '404', '1\r\nx\r\n'],
  ])(
    'that sends a large body which no route reads, %s: the answer comes at once',
    async (_what, head, status, piece) => {
      const client = (await open(head)).sendForever(piece, 20);
      await eventually(() => expect(client.answer).toContain(`HTTP/1.1 ${status} `));
      await cutOff(client, status);
    },
  );

  const uploadOf = (minute: number, truckId: string, length: number) => {
    const query = { customerId: CUSTOMER, truckId, cameraId: 'front', startTime: at(minute), endTime: at(minute + 1) };
    const path = `/admin/v1/hosted/recordings?${new URLSearchParams(query).toString()}`;
    const type = 'Content-Type: video/mp4';
    return requestOf(path, `Authorization: Bearer ${TEST_ADMIN_TOKEN}`, type, `Content-Length: ${length}`).replace(
      'GET',
      'POST',
    );
  };

  test.concurrent('that pauses an upload, and nothing of it is kept', async () => {
    const client = (await open(uploadOf(0, 'slow', 1_000_000))).send(demoVideo(0).subarray(0, 5_000));
    await cutOff(client, '408');
    expect((await upload(slow, 0, { truckId: 'slow' })).status).toBe(201);
  });

  test.concurrent('but not of one that uploads slowly without a pause', async () => {
    const bytes = demoVideo(1);
    const client = await open(uploadOf(1, 'steady', bytes.length));
    // Longer in total than a pause may be.
    const size = Math.ceil(bytes.length / 16);
    for (let i = 0; i < bytes.length; i += size) {
      client.send(bytes.subarray(i, i + size));
      await delay(LIMITS.uploadPause / 10);
    }
    await eventually(() => expect(client.answer).toContain('201 Created'));
    client.close();
  });
});
