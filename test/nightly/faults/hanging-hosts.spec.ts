import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import { sampleVideo } from '../../support/sample-video.js';
import { hangs, startScriptedPartner } from '../../support/scripted-partner.js';
import {
  CONTINUOUS,
  element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from '../../support/scripted-vision.js';
import { Hauler } from '../../acceptance/support/hauler.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';
import { administer, listed } from '../../acceptance/support/target.js';
import type { ShownRecording } from '../../acceptance/support/vision.js';

/** More than the files that an instance receives at once (16). */
const HANGING = 24;
const FILES = 12;
/** Long before the first-byte timeout of two minutes. */
const SERVED_WITHIN_MS = 30_000;
const FILE = sampleVideo(2_000);

let service: OwnService;
let hauler: Hauler;
let partner: VisionPartner;
const timers = new Set<NodeJS.Timeout>();
beforeAll(async () => {
  const dns = await startDnsServer(0);
  held(() => dns.close());
  dns.hang('hangs.example');
  service = await startOwnService({ env: { OUTBOUND_NAME_SERVERS: `127.0.0.1:${dns.port}` } });
  hauler = await Hauler.create({ service });
  partner = await startVisionPartner();
}, 60_000);
afterAll(() => timers.forEach((timer) => clearTimeout(timer)));

/** A port that accepts connections and says nothing. */
async function silentPort(): Promise<number> {
  const server = createServer((socket) => held(async () => void socket.destroy())).listen(0, '127.0.0.1');
  held(async () => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends the head of a large file and its beginning, and then this at intervals. */
const sendsSlowly =
  (piece: string): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'content-length': 50_000_000, etag: '"v"' });
    response.write(FILE.subarray(0, 1_500));
    timers.add(setInterval(() => response.write(piece), 200));
  };

const connect = (baseUrl = partner.url): Promise<string> =>
  hauler.connect({ interface: 'vision', baseUrl, customerId: 'customer-1', apiKey: 'k' });

let trucks = 0;
/** A connection whose truck is followed, with one file for each link. `hours` until they expire. */
async function followed(links: readonly string[], hours: number): Promise<string> {
  const connectionId = await connect();
  const truckId = `TRUCK-${(trucks += 1)}`;
  const chunks = links.map((downloadUrl, n) => {
    const [startTime, endTime] = [inHours(-3 + n / 100), inHours(-3 + (n + 1) / 100)];
    return element({ id: `${truckId}-${n}`, truckId, startTime, endTime, downloadUrl, expiresAt: inHours(hours) });
  });
  listedChunks.set(truckId, chunks);
  await follow(connectionId, truckId);
  return connectionId;
}
const listedChunks = new Map<string, ReturnType<typeof element>[]>();

const follow = (connectionId: string, truckId: string): Promise<unknown> => {
  const body = { connectionId, truckId, startTime: inHours(-4) };
  return administer('POST', '/video-subscriptions', body, service);
};

const many = (link: () => string, count = 4): string[] => Array.from({ length: count }, link);
const scripted = (listener: RequestListener) => many(() => partner.link(Buffer.alloc(0), listener));

const isStored = async (connectionId: string, count: number): Promise<void> => {
  const all = await listed<ShownRecording>(`/recordings?connectionId=${connectionId}`, service);
  expect(all.map(({ status }) => status)).toEqual(Array(count).fill('stored'));
};

describe('while hosts of other connections hang', () => {
  test('files are fetched, and a camera that wakes up is waited for (decision 47)', async () => {
    partner.on(CONTINUOUS, (response, request) =>
      lists('recordings', () => listedChunks.get(request.query.get('truckId') ?? '') ?? [])(response, request),
    );
    const silent = await silentPort();
    const ways = [
      () => many(() => 'http://hangs.example/a.mp4'),
      () => many(() => `https://127.0.0.1:${silent}/a.mp4`),
      () => many(() => `http://127.0.0.1:${silent}/a.mp4`),
      () => scripted(() => undefined),
      () => scripted((_, response) => void response.writeHead(200, { 'content-length': 9_000 }).flushHeaders()),
      () => scripted(sendsSlowly('')),
      () => scripted(sendsSlowly('x')),
    ];
    for (let n = 0; n < HANGING; n++) await followed(ways[n % ways.length]?.() ?? [], 1);
    let asked = 0;
    const waking = partner.link(FILE, (_, response) => {
      asked += 1;
      timers.add(setTimeout(() => response.writeHead(200, { 'content-length': FILE.length }).end(FILE), 8_000));
    });
    const camera = await followed([waking], 1);
    const good = await followed(
      many(() => partner.link(FILE), FILES),
      2,
    );
    await eventually(() => isStored(good, FILES), SERVED_WITHIN_MS);
    await eventually(() => isStored(camera, 1), SERVED_WITHIN_MS);
    expect(asked).toBe(1);
  }, 120_000);
});

test('a partner is listed while the APIs of many others hang (decision 48)', async () => {
  const hanging = await startScriptedPartner();
  held(() => hanging.stop());
  hanging.on(CONTINUOUS, hangs());
  for (let n = 0; n < HANGING; n++) {
    const connectionId = await connect(hanging.url);
    for (const truckId of ['TRUCK-A', 'TRUCK-B']) await follow(connectionId, truckId);
  }
  await eventually(() => expect(hanging.asked.length).toBeGreaterThanOrEqual(16));
  const answering = await startVisionPartner();
  answering.on(
    CONTINUOUS,
    lists('recordings', () => []),
  );
  await follow(await connect(answering.url), 'TRUCK-C');
  await eventually(() => expect(answering.askedOf(CONTINUOUS).length).toBeGreaterThan(0), SERVED_WITHIN_MS);
}, 120_000);
