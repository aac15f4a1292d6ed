import { afterEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { uuidv7 } from '../../../../src/database/uuid.js';
import { sealKey } from '../../../../src/partner-client/connection-keys.service.js';
import { eventually } from '../../../support/eventually.js';
import { freePort } from '../../../support/free-port.js';
import { held } from '../../../support/held.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { hangs, startScriptedPartner } from '../../../support/scripted-partner.js';
import { CONTINUOUS, inHours, lists } from '../../../support/scripted-vision.js';
import { useVision } from '../../../support/vision-scene.js';

const vision = useVision();

/** A connection whose id begins with its time, as those of the admin API. */
async function connection(baseUrl = vision.partner.url): Promise<string> {
  const [haulerId, id] = [randomUUID(), uuidv7()];
  await vision.query('INSERT INTO haulers (id, name) VALUES ($1, $2)', [haulerId, 'Test']);
  await vision.query(
    `INSERT INTO connections (hauler_id, id, interface, base_url, sealed_key, customer_id, interval_seconds, enabled,
       created_at, updated_at)
     VALUES ($1, $2, 'vision', $3, $4, 'customer-1', 300, true, now(), now())`,
    [haulerId, id, baseUrl, sealKey(vision.app.env.SECRETS_KEY, id, 'the-partners-key')],
  );
  return id;
}

/** Rows as a listing would write them. Their links expire in so many hours, so those of fewer hours are fetched first. */
const addChunks = (connectionId: string, links: readonly string[], hours: number) =>
  vision.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, link, expires_at, fetch_by, created_at, updated_at, due_at)
     SELECT hauler_id, gen_random_uuid(), id, 'continuous', n::text, 'c', 't', 'front', now() - n * interval '1 minute',
       now() - (n - 1) * interval '1 minute', 60, 'available', link, now() + $3 * interval '1 hour',
       now() + $3 * interval '1 hour', now(), now(), now()
     FROM connections, unnest($2::text[]) WITH ORDINALITY AS links (link, n) WHERE id = $1`,
    [connectionId, links, hours],
  );

const stored = async (connectionId: string) =>
  (await vision.query("SELECT FROM recordings WHERE connection_id = $1 AND status = 'stored'", [connectionId])).length;

const many = (count: number, link: () => string): string[] => Array.from({ length: count }, link);
const fileLinks = (count: number) => many(count, () => vision.partner.link(sampleVideo(2_000)));
const scripted = (count: number, listener: RequestListener) =>
  many(count, () => vision.partner.link(Buffer.alloc(0), listener));

const timers = new Set<NodeJS.Timeout>();
afterEach(() => timers.forEach((timer) => clearInterval(timer)));

/** A port that accepts connections and says nothing. */
async function silentPort(): Promise<number> {
  const server = createServer((socket) => held(async () => void socket.destroy())).listen(0, '127.0.0.1');
  held(async () => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends the head of a large file and then this at intervals. */
const sendsSlowly =
  (piece: Buffer, everyMs: number): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'content-length': 50_000_000, etag: '"v"' });
    response.write(sampleVideo(2_000).subarray(0, 1_500));
    const timer = setInterval(() => response.write(piece), everyMs);
    timers.add(timer);
  };

describe('a partner whose files can be fetched', () => {
  test('is served while the hosts of more partners than there are places hang, each in its own way', async () => {
    const tls = `https://127.0.0.1:${await silentPort()}/a.mp4`;
    const silent = `http://127.0.0.1:${await silentPort()}/a.mp4`;
    const ways = [
      many(10, () => tls),
      many(10, () => silent),
      scripted(10, () => undefined),
      scripted(10, (_, response) => void response.writeHead(200, { 'content-length': 9_000 }).flushHeaders()),
      scripted(10, sendsSlowly(Buffer.alloc(0), 60_000)),
      scripted(10, sendsSlowly(Buffer.from('x'), 200)),
    ];
    for (const links of ways) await addChunks(await connection(), links, 1);
    const good = await connection();
    await addChunks(good, fileLinks(40), 2);
    await eventually(async () => expect(await stored(good)).toBe(40), 50_000);
  }, 60_000);

  test('is served beside its other host, which hangs', async () => {
    const id = await connection();
    const silent = await silentPort();
    await addChunks(
      id,
      many(20, () => `http://127.0.0.1:${silent}/a.mp4`),
      1,
    );
    await addChunks(id, fileLinks(20), 2);
    await eventually(async () => expect(await stored(id)).toBe(20), 50_000);
  }, 60_000);

  test('is waited for while its camera wakes up, although others hang', async () => {
    const waking = await connection();
    const body = sampleVideo(2_000);
    const asked: number[] = [];
    const links = scripted(1, (_, response) => {
      asked.push(Date.now());
      timers.add(setTimeout(() => response.writeHead(200, { 'content-length': body.length }).end(body), 12_000));
    });
    await addChunks(waking, links, 1);
    for (let i = 0; i < 4; i++) {
      const silent = await silentPort();
      await addChunks(
        await connection(),
        many(10, () => `http://127.0.0.1:${silent}/a.mp4`),
        1,
      );
    }
    await eventually(async () => expect(await stored(waking)).toBe(1), 50_000);
    expect(asked).toHaveLength(1);
  }, 60_000);

  test('is served although 32 older connections have hosts that are down, and a full head of rows that are not due', async () => {
    const down = await freePort();
    for (let i = 0; i < 32; i++)
      await addChunks(
        await connection(),
        many(5, () => `http://127.0.0.1:${down}/a.mp4`),
        1,
      );
    const younger: string[] = [];
    for (let i = 0; i < 8; i++) younger.push(await connection());
    for (const id of younger) await addChunks(id, fileLinks(1), 2);
    await eventually(async () => {
      expect(await Promise.all(younger.map(stored))).toEqual(younger.map(() => 1));
    }, 30_000);
  }, 60_000);
});

test('a partner is listed while the APIs of more partners than there are places hang', async () => {
  const subscribe = async (connectionId: string) => {
    const body = { connectionId, truckId: 'TRUCK-7', startTime: inHours(-4) };
    expect((await vision.app.admin('POST', '/video-subscriptions', body)).status).toBe(201);
    expect((await vision.app.admin('POST', '/video-subscriptions', { ...body, truckId: 'TRUCK-8' })).status).toBe(201);
  };
  const hanging = await startScriptedPartner();
  try {
    hanging.on(CONTINUOUS, hangs());
    for (let i = 0; i < 5; i++) await subscribe(await connection(hanging.url));
    await eventually(async () => expect(hanging.asked.length).toBeGreaterThanOrEqual(8), 10_000);
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => []),
    );
    await subscribe(await connection());
    await eventually(async () => expect(vision.partner.askedOf(CONTINUOUS).length).toBeGreaterThan(0), 50_000);
  } finally {
    await vision.query('DELETE FROM video_subscriptions');
    await hanging.stop();
  }
}, 60_000);
