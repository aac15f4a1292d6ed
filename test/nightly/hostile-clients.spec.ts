import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ContinuousResponse } from '../../src/contracts/vision/vision.api.js';
import { type BuiltService, liveMemory, peakMemory, resetPeakMemory, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { requireLinux } from '../support/programs.js';
import { at, CUSTOMER, demoVideo, TRUCK } from '../support/reference-vision.js';
import { SlowClient } from '../support/slow-client.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TEST_ADMIN_TOKEN } from '../support/test-run.js';
import { Crowd } from './crowd.js';

/** Callers that take connections, memory or places, with the limits of production (`SERVER_LIMITS`). */
const MIB = 1024 * 1024;
const ADMIN = { Authorization: `Bearer ${TEST_ADMIN_TOKEN}` };
/** All others call from 127.0.0.1. */
const ATTACKERS = ['127.0.0.66', '127.0.0.67', '127.0.0.68', '127.0.0.69'];
const PIPELINED = 64;
const MAX_OF_ADDRESS = 500;
const MAX_FILE_ANSWERS = 256;
/** The live memory that may remain after all callers have gone. */
const LIVE_MARGIN = 24 * MIB;
const CASE_MS = 180_000;

let database: TestDatabase;
let service: BuiltService;
let video: string;
beforeAll(async () => {
  requireLinux();
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url, memoryProbe: true });
  video = await storedVideo(Buffer.concat([demoVideo(0), Buffer.alloc(64 * MIB)]));
});
beforeEach(() => resetPeakMemory(service));
afterAll(async () => {
  await service?.end('SIGKILL');
  await database?.drop();
});

const descriptors = () => readdirSync(`/proc/${service.child.pid}/fd`).length;
const residentBytes = () =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) * 1024;
const inMib = (bytes: number) => Math.round(bytes / MIB);

const requestOf = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
const postOf = (path: string, ...headers: string[]) =>
  requestOf(path, 'Content-Type: application/json', ...headers).replace('GET', 'POST');
const answered = (client: SlowClient, pattern: RegExp) => eventually(() => expect(client.answer).toMatch(pattern));

/** Clients on connections of their own, fifty at a time, that send a text and read nothing. */
async function crowd(size: number, text: string, addresses = ATTACKERS): Promise<SlowClient[]> {
  const clients: SlowClient[] = [];
  while (clients.length < size) {
    const some = Array.from({ length: Math.min(50, size - clients.length) }, (_, i) =>
      SlowClient.open(service.url, addresses[i % addresses.length]),
    );
    for (const client of await Promise.all(some)) clients.push(client.send(text).stopReading());
  }
  return clients;
}

/** Callers with other addresses, and health checks and administrators of the same one, still get in. */
async function expectServed(): Promise<void> {
  const signal = AbortSignal.timeout(20_000);
  expect((await fetch(`${service.url}/health/ready`, { signal })).status).toBe(200);
  expect((await fetch(`${service.url}/admin/v1/haulers`, { headers: ADMIN, signal })).status).toBe(200);
  expect((await fetch(`${service.url}/docs/scale.json`, { signal })).status).toBe(200);
  const same = async (path: string, ...headers: string[]) => {
    const client = await SlowClient.open(service.url, ATTACKERS[0]);
    await answered(client.send(requestOf(path, 'Connection: close', ...headers)), / 200 OK/);
  };
  await same('/health/ready');
  await same('/admin/v1/haulers', `Authorization: ${ADMIN.Authorization}`);
}

/** Closes all clients, and waits until the service has closed their descriptors. */
async function expectNoneLeft(clients: readonly SlowClient[], before: number): Promise<void> {
  for (const client of clients) client.close();
  await eventually(() => expect(descriptors()).toBeLessThanOrEqual(before + 5));
}

/** First: its bound is the lowest, and a process keeps what it once needed. */
describe('pipelined requests', () => {
  const REQUEST = requestOf('/health/live');
  const responsesOf = ({ answer }: SlowClient) => answer.split('HTTP/1.1 ').length - 1;

  test(
    'of 1,500 connections, 2,000 each: they are closed, and others are answered meanwhile',
    async () => {
      const clients = await Promise.all(Array.from({ length: 1_500 }, () => SlowClient.open(service.url)));
      for (const client of clients) client.send(REQUEST.repeat(2_000));
      const started = performance.now();
      // Without the limit this waited for 114 s.
      const response = await fetch(`${service.url}/health/live`, { signal: AbortSignal.timeout(60_000) });
      const waitedMs = Math.round(performance.now() - started);
      expect(response.status).toBe(200);
      await Promise.all(clients.map(({ cutAfter }) => cutAfter));
      expect(Math.max(...clients.map(responsesOf))).toBe(1);
      expect(peakMemory(service)).toBeLessThan(400 * MIB);
      reportFigures('pipelined', { 'health waited ms': waitedMs, peakMiB: inMib(peakMemory(service)) });
    },
    CASE_MS,
  );
});

describe('2,000 connections', () => {
  test.each(['/docs/swagger-ui-bundle.js', '/nope'])(
    `that pipeline ${PIPELINED} requests for %s and read nothing take bounded memory`,
    async (path) => {
      for (let i = 0; i < 200; i++) await (await fetch(service.url + path)).arrayBuffer();
      const [openBefore, before] = [descriptors(), residentBytes()];
      const clients = await crowd(2_000, requestOf(path).repeat(PIPELINED));
      await expectServed();
      const growth = residentBytes() - before;
      await expectNoneLeft(clients, openBefore);
      reportFigures(`unread ${path}`, { 'growth MiB': inMib(growth) });
      expect(growth).toBeLessThan(100 * MIB);
    },
    CASE_MS,
  );

  const chunk = (text: string) => `${text}1\r\n{\r\n`;
  test.each([
    ['are idle after a response', requestOf('/health/live')],
    ['send nothing', ''],
    ['send half of the headers', 'GET /health/live HTTP/1.1\r\nHost: x\r\n'],
    ['send no body to an unknown path', postOf('/nope', 'Content-Length: 100')],
    ['send a part of a body that is refused', chunk(postOf('/admin/v1/haulers', 'Transfer-Encoding: chunked'))],
    ['send a part of a sign-in', chunk(postOf('/console/api/session', 'Transfer-Encoding: chunked'))],
  ])(
    'of one address that %s keep nobody out',
    async (_what, text) => {
      const before = descriptors();
      const clients = await crowd(2_000, text, [ATTACKERS[0] ?? '']);
      await expectServed();
      expect(descriptors() - before).toBeLessThanOrEqual(MAX_OF_ADDRESS + 20);
      await expectNoneLeft(clients, before);
    },
    CASE_MS,
  );
});

/** Uploads a video, and returns the path and query of its download link. */
async function storedVideo(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const camera = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) };
  const query = new URLSearchParams(camera).toString();
  const headers = { ...ADMIN, 'Content-Type': 'video/mp4' };
  const path = `${service.url}/admin/v1/hosted/recordings?${query}`;
  expect((await fetch(path, { method: 'POST', headers, body })).status).toBe(201);
  const order = { interfaces: ['vision'], allCustomers: true };
  const { key } = (await service.admin<{ key: string }>('POST', '/api-keys', order)).body;
  const list = `${service.url}/video-platform/v1/videos/continuous?${query}`;
  const { data } = (await (await fetch(list, { headers: { 'API-KEY': key } })).json()) as ContinuousResponse;
  const { pathname, search } = new URL(data.recordings?.[0]?.downloadUrl ?? '');
  return pathname + search;
}

describe('readers of a file that stop', () => {
  async function stoppedReader(address = '127.0.0.1'): Promise<SlowClient> {
    const reader = (await SlowClient.open(service.url, address)).send(requestOf(video));
    await eventually(() => expect(reader.answer).toMatch(/^HTTP\/1.1 \d+ /), 60_000);
    return reader.stopReading();
  }
  const isRefused = ({ answer }: SlowClient) => /^HTTP\/1.1 503 (?:.*\r\n)*?Retry-After: \d+\r\n/.test(answer);

  test(
    'use a bounded number of file answers and bounded memory, and are cut off after 30 to 60 s',
    async () => {
      const before = await liveMemory(service);
      const readers = await Promise.all(
        Array.from({ length: 1_500 }, (_, i) => stoppedReader(ATTACKERS[i % ATTACKERS.length])),
      );
      await expectServed();
      const peak = peakMemory(service);
      const refused = readers.filter(isRefused).length;
      reportFigures('stopped readers', { readers: readers.length, refused, peakMiB: inMib(peak) });
      // Requests may have been refused before, by the database.
      expect(readers.length - refused).toBeLessThanOrEqual(MAX_FILE_ANSWERS);
      expect(peak).toBeLessThan(700 * MIB);
      await delay(70_000);
      await eventually(async () => {
        const next = await stoppedReader();
        next.close();
        expect(next.answer).toMatch(/^HTTP\/1.1 200 /);
      });
      // A reader whose connection was closed receives less than the whole file when it reads again.
      for (const reader of readers.filter((each) => !isRefused(each))) {
        reader.read();
        await reader.cutAfter;
        expect(reader.received).toBeLessThan(64 * MIB);
      }
      await eventually(async () => expect(await liveMemory(service)).toBeLessThan(before + LIVE_MARGIN));
      for (const reader of readers) reader.close();
    },
    2 * CASE_MS,
  );
});

describe('1,500 unfinished bodies of 1 MiB', () => {
  const PLAIN = { body: Buffer.alloc(MIB - 1, ' '), size: MIB, coding: [] as string[] };
  /** The same body in about a thousand bytes. */
  const packed = gzipSync(Buffer.alloc(MIB - 1, ' '));
  const GZIP = { body: packed.subarray(0, -1), size: packed.length, coding: ['Content-Encoding: gzip'] };

  test.each([
    ['with one key', 503, true, PLAIN],
    ['of gzip with one key', 503, true, GZIP],
    ['without a key', 401, false, PLAIN],
  ])(
    '%s take bounded memory, and another key is served',
    async (what, status, hasKey, { body, size, coding }) => {
      const others = await Crowd.create(service, await database.connect(2));
      const { id: haulerId } = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Slow' })).body;
      const issued = await service.admin<{ key: string }>('POST', '/api-keys', { haulerId, interfaces: ['scale'] });
      const before = await liveMemory(service);
      const lines = [...coding, ...(hasKey ? [`PLATFORM-API-KEY: ${issued.body.key}`] : [])];
      const head = postOf('/platform-api/v1/tickets', `Content-Length: ${size}`, ...lines);
      const clients = await Promise.all(
        Array.from({ length: 1_500 }, async (_, i) => {
          const client = await SlowClient.open(service.url, ATTACKERS[i % ATTACKERS.length]);
          return client.send(head).send(body);
        }),
      );
      const closed = new Set<SlowClient>();
      for (const client of clients) void client.cutAfter.then(() => closed.add(client));
      const statusOf = ({ answer }: SlowClient) => Number(/^HTTP\/1\.1 (\d+) /.exec(answer)?.[1] ?? 0);
      const refused = () => clients.filter((client) => statusOf(client) !== 0 || closed.has(client)).length;
      // 16 MiB of one hauler may wait.
      await eventually(() => expect(refused()).toBeGreaterThanOrEqual(clients.length - (hasKey ? 16 : 0)), 60_000);
      // One that came late may have waited for its own end, and a closed connection may lose its answer.
      const statuses = new Set(clients.map(statusOf).filter((each) => each !== 0 && each !== 408));
      expect([...statuses]).toEqual([status]);
      expect(await others.pushAll(service, 4, 40)).toEqual({ acknowledged: 40, refused: 0, wrong: [] });
      const peak = peakMemory(service);
      reportFigures(`unfinished bodies ${what}`, { refused: refused(), peakMiB: inMib(peak) });
      expect(peak).toBeLessThan(700 * MIB);
      for (const client of clients) client.close();
      await eventually(async () => expect(await liveMemory(service)).toBeLessThan(before + LIVE_MARGIN));
    },
    CASE_MS,
  );
});
