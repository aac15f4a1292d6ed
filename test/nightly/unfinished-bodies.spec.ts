import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BuiltService, liveMemory, peakMemory, startService } from '../support/built-service.js';
import { Crowd } from './crowd.js';
import { eventually } from '../support/eventually.js';
import { shortOrLong, reportFigures } from '../support/faults.js';
import { at, CUSTOMER, TRUCK } from '../support/reference-vision.js';
import { SlowClient } from '../support/slow-client.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const MIB = 1024 * 1024;
const CALLERS = shortOrLong(300, 1_500);
const MAX_RSS_BYTES = 700 * MIB;
/** The live memory that may remain after all callers have gone. */
const LIVE_MARGIN = 24 * MIB;

interface Sent {
  /** The whole body except its last byte. */
  readonly body: Buffer;
  readonly size: number;
  readonly headers: readonly string[];
}

const PLAIN: Sent = { body: Buffer.alloc(MIB - 1, ' '), size: MIB, headers: [] };
/** The same body in about a thousand bytes. */
const COMPRESSED = gzipSync(Buffer.alloc(MIB - 1, ' '));
const GZIP: Sent = { body: COMPRESSED.subarray(0, -1), size: COMPRESSED.length, headers: ['Content-Encoding: gzip'] };

let database: TestDatabase;
let service: BuiltService;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url, memoryProbe: true });
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
});

async function unfinishedBody({ body, size, headers }: Sent, key?: string): Promise<SlowClient> {
  const client = await SlowClient.open(service.url);
  const own = key === undefined ? [] : [`PLATFORM-API-KEY: ${key}`];
  const lines = ['Host: x', 'Content-Type: application/json', `Content-Length: ${size}`, ...headers, ...own];
  client.send(`POST /platform-api/v1/tickets HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return client.send(body);
}

/** Only Linux reports the highest memory of a process. */
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each([
  ['with one key', 503, true, PLAIN],
  ['of gzip with one key', 503, true, GZIP],
  ['without a key', 401, false, PLAIN],
])(
  'unfinished bodies of 1 MiB %s take bounded memory, and another key is served',
  async (what, status, hasKey, sent) => {
    const db = await database.connect(2);
    const crowd = await Crowd.create(service, db);
    const { body: hauler } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Slow' });
    const order = { haulerId: hauler.id, interfaces: ['scale'] };
    const { body: issued } = await service.admin<{ key: string }>('POST', '/api-keys', order);
    const before = await liveMemory(service);
    const clients = await Promise.all(
      Array.from({ length: CALLERS }, () => unfinishedBody(sent, hasKey ? issued.key : undefined)),
    );
    const refused = () => clients.filter(({ answer }) => answer.startsWith(`HTTP/1.1 ${status} `)).length;
    await eventually(() => expect(refused()).toBeGreaterThanOrEqual(CALLERS - (hasKey ? 16 : 0)), 60_000);
    expect(await crowd.pushAll(service, 4, 40)).toEqual({ acknowledged: 40, refused: 0, wrong: [] });
    const peak = peakMemory(service);
    reportFigures(`unfinished-bodies ${what}`, {
      callers: CALLERS,
      refused: refused(),
      peakMiB: Math.round(peak / MIB),
    });
    expect(peak).toBeLessThan(MAX_RSS_BYTES);
    for (const client of clients) client.close();
    await eventually(async () => expect(await liveMemory(service)).toBeLessThan(before + LIVE_MARGIN));
  },
  shortOrLong(60_000, 180_000),
);

test('twenty uploads that are not MP4 each receive their 400, and so does the request after each', async () => {
  const times = { startTime: at(0), endTime: at(1) };
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', ...times });
  const headers = { Authorization: 'Bearer test-admin-token-0123456789', 'Content-Type': 'video/mp4' };
  for (let i = 0; i < 20; i++) {
    // fetch reuses a connection where possible.
    const response = await fetch(`${service.url}/admin/v1/hosted/recordings?${query.toString()}`, {
      method: 'POST',
      headers,
      body: new Uint8Array(2 * MIB),
    });
    expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ success: false })]);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
  }
});
