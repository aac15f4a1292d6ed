import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { SettledEnv } from '../config/env.js';
import { AdminClient } from './admin-client.js';
import { DEMO, DEMO_ALIASES, DEMO_SITE_DATA } from './demo-data.js';
import { demoKeys, type DemoKeys } from './demo-keys.js';
import { DEMO_CAMERAS, demoRecording } from './demo-recordings.js';

const MINUTE_MS = 60_000;
/** Recorded minutes that the demo truck brings; the clock in the picture has ten of them. */
const RECORDED_MINUTES = 10;
/** How long the first synchronisation is waited for, and how often it is looked for. */
const SYNCHRONISED_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 50;

export interface Demo {
  readonly keys: DemoKeys;
  /** A range that lies within the recordings and crosses a chunk boundary. */
  readonly clip: { readonly startTime: string; readonly endTime: string };
}

interface Connection {
  readonly id: string;
  readonly baseUrl: string;
}

/**
 * Fills an empty service with a hauler, keys, a partner's sites and recordings, and connects the platform side to the
 * partner side of this same process, of which it waits for the sites. Started again, it adds what is missing, and the minutes
 * just past.
 */
export async function seedDemo(env: SettledEnv, baseUrl: string, now = Date.now()): Promise<Demo> {
  const admin = new AdminClient(baseUrl, env.ADMIN_TOKEN);
  if ((await admin.get(`/haulers/${DEMO.haulerId}`)) === undefined) {
    await admin.json('POST', '/haulers', { id: DEMO.haulerId, name: DEMO.haulerName });
  }
  const keys = await demoKeys(admin, env.DATA_DIR);
  const lastMinute = Math.floor(now / MINUTE_MS) - 1;
  if (env.SIDES.has('partner')) {
    await admin.json('PUT', `/hosted/haulers/${DEMO.haulerId}/site-data`, DEMO_SITE_DATA);
    await uploadRecordings(admin, lastMinute);
  }
  const middle = (lastMinute - RECORDED_MINUTES / 2) * MINUTE_MS;
  const clip = { startTime: instant(middle - 10_000), endTime: instant(middle + 10_000) };
  if (env.SIDES.has('platform') && env.SIDES.has('partner')) {
    const connectionId = await connect(admin, baseUrl, keys.partner);
    await follow(admin, connectionId, clip, instant((lastMinute - RECORDED_MINUTES) * MINUTE_MS));
    await untilSynchronised(admin);
  }
  return { keys, clip };
}

async function uploadRecordings(admin: AdminClient, lastMinute: number): Promise<void> {
  for (const cameraId of DEMO_CAMERAS) {
    await admin.json('PUT', '/hosted/cameras', {
      customerId: DEMO.haulerId,
      truckId: DEMO.truckId,
      cameraId,
      aliases: DEMO_ALIASES[cameraId],
    });
    for (let minute = lastMinute - RECORDED_MINUTES; minute < lastMinute; minute++) {
      const query = new URLSearchParams({
        customerId: DEMO.haulerId,
        truckId: DEMO.truckId,
        cameraId,
        startTime: instant(minute * MINUTE_MS),
        endTime: instant((minute + 1) * MINUTE_MS),
      });
      await admin.upload(`/hosted/recordings?${query.toString()}`, await film(cameraId, minute));
    }
  }
}

async function film(camera: 'front' | 'rear', minute: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await readFile(demoRecording(camera, new Date(minute * MINUTE_MS))));
}

/** The id of the vision connection. */
async function connect(admin: AdminClient, baseUrl: string, apiKey: string): Promise<string> {
  await connection(admin, 'site', baseUrl, apiKey);
  return connection(admin, 'vision', baseUrl, apiKey);
}

/** Once: all that the truck records, and one clip that crosses a chunk boundary. */
async function follow(admin: AdminClient, connectionId: string, clip: Demo['clip'], startTime: string): Promise<void> {
  const subscriptions = await admin.get<{ data: unknown[] }>(`/video-subscriptions?connectionId=${connectionId}`);
  if ((subscriptions?.data.length ?? 0) > 0) return;
  const { truckId } = DEMO;
  await admin.json('POST', '/video-subscriptions', { connectionId, truckId, startTime, intervalSeconds: 30 });
  await admin.json('POST', '/video-requests', { connectionId, truckId, cameraId: 'front', ...clip });
}

/** A ticket is refused before its site is known, and the first thing that a reader pastes is a ticket. */
async function untilSynchronised(admin: AdminClient): Promise<void> {
  const sites = `/sites?haulerId=${DEMO.haulerId}&siteId=${DEMO.siteId}`;
  for (const end = Date.now() + SYNCHRONISED_WITHIN_MS; Date.now() < end; await delay(LOOK_EVERY_MS)) {
    if ((await admin.get<{ data: unknown[] }>(sites))?.data.length) return;
  }
}

/**
 * Its id. A demo that moved to another port is told to its connections, and so is a key that replaces one which opens
 * nothing any more: asked for at each start, since the one that issued it may not have come as far as this.
 */
async function connection(admin: AdminClient, kind: string, baseUrl: string, apiKey: string): Promise<string> {
  const query = `haulerId=${DEMO.haulerId}&interface=${kind}&pageSize=100`;
  // Newest first: the demo made its own before anybody could give its hauler another one.
  const existing = (await admin.get<{ data: Connection[] }>(`/connections?${query}`))?.data.at(-1);
  if (existing === undefined) {
    const request = { haulerId: DEMO.haulerId, interface: kind, baseUrl, apiKey };
    return (await admin.json<Connection>('POST', '/connections', request)).id;
  }
  const path = `/connections/${existing.id}`;
  const works =
    existing.baseUrl === baseUrl && (await admin.json<{ authorized: boolean }>('POST', `${path}/check`, {})).authorized;
  if (!works) await admin.json('PATCH', path, { baseUrl, apiKey });
  return existing.id;
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
