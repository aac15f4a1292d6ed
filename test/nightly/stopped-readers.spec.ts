import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { ContinuousResponse } from '../../src/contracts/vision/vision.dto.js';
import { type BuiltService, liveMemory, peakMemory, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { LONG, shortOrLong, reportFigures } from '../support/faults.js';
import { at, CUSTOMER, demoVideo, TRUCK } from '../support/reference-vision.js';
import { SlowClient } from '../support/slow-client.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const MIB = 1024 * 1024;
const VIDEO_BYTES = 64 * MIB;
const READERS = shortOrLong(300, 1_500);
/** The limit of the service (`SERVER_LIMITS.fileAnswers`). */
const MAX_FILE_ANSWERS = 256;
const MAX_OF_ADDRESS = MAX_FILE_ANSWERS / 4;
const OWN_ADDRESS = '127.0.0.1';
/** As many as may use all places. */
const ATTACKERS = ['127.0.0.66', '127.0.0.67', '127.0.0.68', '127.0.0.69'];
/** The service cuts off a reader after 30 to 60 s without progress. */
const CUT_OFF_MS = 70_000;
const MAX_RSS_BYTES = 700 * MIB;
/** The live memory that may remain after all readers have gone. */
const LIVE_MARGIN = 24 * MIB;

let database: TestDatabase;
let service: BuiltService;
let path: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url, memoryProbe: true });
  path = await storedVideo(Buffer.concat([demoVideo(0), Buffer.alloc(VIDEO_BYTES)]));
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
});

/** Uploads a video, and returns the path and query of its download link. */
async function storedVideo(bytes: Buffer): Promise<string> {
  const camera = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) };
  const query = new URLSearchParams(camera).toString();
  const headers = { Authorization: 'Bearer test-admin-token-0123456789', 'Content-Type': 'video/mp4' };
  const uploaded = await fetch(`${service.url}/admin/v1/hosted/recordings?${query}`, {
    method: 'POST',
    headers,
    body: new Uint8Array(bytes),
  });
  expect(uploaded.status).toBe(201);
  const { body: issued } = await service.admin<{ key: string }>('POST', '/api-keys', {
    interfaces: ['vision'],
    allCustomers: true,
  });
  const listed = await fetch(`${service.url}/video-platform/v1/videos/continuous?${query}`, {
    headers: { 'API-KEY': issued.key },
  });
  const { data } = (await listed.json()) as ContinuousResponse;
  const { pathname, search } = new URL(data.recordings![0]!.downloadUrl);
  return pathname + search;
}

async function stoppedReader(address: string): Promise<SlowClient> {
  const reader = await SlowClient.open(service.url, address);
  reader.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await eventually(() => expect(reader.answer).toMatch(/^HTTP\/1.1 \d+ /), 60_000);
  return reader.stopReading();
}

const isRefused = ({ answer }: SlowClient) => /^HTTP\/1.1 503 (?:.*\r\n)*?Retry-After: \d+\r\n/.test(answer);

test('readers of one address that stop leave places for another address', async () => {
  const readers = await Promise.all(Array.from({ length: MAX_OF_ADDRESS + 20 }, () => stoppedReader('127.0.0.70')));
  const served = readers.filter((reader) => !isRefused(reader));
  expect(served.length).toBeLessThanOrEqual(MAX_OF_ADDRESS);
  const other = await stoppedReader(OWN_ADDRESS);
  expect(other.answer).toMatch(/^HTTP\/1.1 200 /);
  for (const reader of [...readers, other]) reader.close();
});

/** Only Linux reports the highest memory of a process. */
(process.platform === 'linux' ? test : test.skip)(
  'readers that stop use a bounded number of file answers and bounded memory, and all of it is released',
  async () => {
    const before = await liveMemory(service);
    const readers = await Promise.all(
      Array.from({ length: READERS }, (_, i) => stoppedReader(ATTACKERS[i % ATTACKERS.length]!)),
    );
    const asked = performance.now();
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    const healthMs = performance.now() - asked;
    const peak = peakMemory(service);
    const refused = readers.filter(isRefused).length;
    reportFigures('stopped-readers', { readers: READERS, refused, peakMiB: Math.round(peak / MIB), healthMs });
    // Requests may have been refused before, by the database.
    expect(READERS - refused).toBeLessThanOrEqual(MAX_FILE_ANSWERS);
    expect(refused).toBeLessThan(READERS);
    expect(peak).toBeLessThan(MAX_RSS_BYTES);
    expect(healthMs).toBeLessThan(1_000);
    if (LONG) await delay(CUT_OFF_MS);
    else for (const reader of readers) reader.close();
    await eventually(async () => {
      const next = await stoppedReader(OWN_ADDRESS);
      next.close();
      expect(next.answer).toMatch(/^HTTP\/1.1 200 /);
    });
    if (LONG) await Promise.all(readers.filter((each) => !isRefused(each)).map(expectCutOff));
    await eventually(async () => expect(await liveMemory(service)).toBeLessThan(before + LIVE_MARGIN));
    for (const reader of readers) reader.close();
  },
  shortOrLong(60_000, 180_000),
);

/** A reader whose connection was closed receives less than the whole file when it reads again. */
async function expectCutOff(reader: SlowClient): Promise<void> {
  reader.read();
  await reader.cutAfter;
  expect(reader.received).toBeLessThan(VIDEO_BYTES);
}
