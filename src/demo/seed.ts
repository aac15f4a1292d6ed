import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Readable } from 'node:stream';
import type { ResolvedEnv } from '../config/env.js';
import { AdminCallError, AdminClient } from '../admin-client/admin-client.js';
import { DEMO, DEMO_ALIASES, DEMO_CAMERAS, DEMO_SITE_DATA, demoRecording } from './demo-data.js';
import { demoKeys, type DemoKeys } from './demo-keys.js';

const CALL_TIMEOUT_MS = 30_000;
const MINUTE_MS = 60_000;
/** Recorded minutes of each camera. */
const RECORDED_MINUTES = 10;
const SYNC_TIMEOUT_MS = 5_000;
const SYNC_POLL_MS = 50;

export interface Demo {
  readonly keys: DemoKeys;
  /** A range within the recordings that spans two of them. */
  readonly clip: { readonly startTime: string; readonly endTime: string };
}

/** The demo uses the admin API as an administrator would. */
export function demoClient(baseUrl: string, { ADMIN_TOKEN }: Pick<ResolvedEnv, 'ADMIN_TOKEN'>): AdminClient {
  return new AdminClient({ url: new URL(baseUrl), token: ADMIN_TOKEN, timeoutMs: CALL_TIMEOUT_MS });
}

/**
 * Creates a hauler, keys, a partner's sites and recordings, connects the platform side to the partner side of this same
 * process, and waits for the first synchronisation. Another start adds what is missing, and the most recent minutes.
 */
export async function seedDemo(env: ResolvedEnv, baseUrl: string, now = Date.now()): Promise<Demo> {
  const admin = demoClient(baseUrl, env);
  await acceptStatus(409, admin.call('createHauler', { body: { id: DEMO.haulerId, name: DEMO.haulerName } }));
  const keys = await demoKeys(admin, env.DATA_DIR);
  const lastMinute = Math.floor(now / MINUTE_MS) - 1;
  if (env.SIDES.has('partner')) {
    await replaceSiteData(admin);
    await uploadRecordings(admin, lastMinute);
  }
  const middle = (lastMinute - RECORDED_MINUTES / 2) * MINUTE_MS;
  const clip = { startTime: timeOf(middle - 10_000), endTime: timeOf(middle + 10_000) };
  if (env.SIDES.has('platform') && env.SIDES.has('partner')) {
    await connect(admin, 'site', baseUrl, keys.partner);
    const connectionId = await connect(admin, 'vision', baseUrl, keys.partner);
    await subscribe(admin, connectionId, clip, timeOf((lastMinute - RECORDED_MINUTES) * MINUTE_MS));
    await waitForSites(admin);
  }
  return { keys, clip };
}

/** Ignores an error with this status: an earlier start made the same call. */
async function acceptStatus(status: number, call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof AdminCallError) || error.status !== status) throw error;
  });
}

async function replaceSiteData(admin: AdminClient): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(DEMO_SITE_DATA));
  const upload = { content: Readable.from([bytes]), sizeBytes: bytes.length };
  await admin.call('replaceHostedSiteData', { params: { haulerId: DEMO.haulerId }, upload });
}

async function uploadRecordings(admin: AdminClient, lastMinute: number): Promise<void> {
  for (const cameraId of DEMO_CAMERAS) {
    const camera = { customerId: DEMO.haulerId, truckId: DEMO.truckId, cameraId };
    await admin.call('setHostedCamera', { body: { ...camera, aliases: DEMO_ALIASES[cameraId] } });
    for (let minute = lastMinute - RECORDED_MINUTES; minute < lastMinute; minute++) {
      const start = minute * MINUTE_MS;
      const file = demoRecording(cameraId, new Date(start));
      const query = { ...camera, startTime: timeOf(start), endTime: timeOf(start + MINUTE_MS) };
      const upload = { content: createReadStream(file), sizeBytes: (await stat(file)).size };
      await acceptStatus(409, admin.call('uploadHostedRecording', { query, upload }));
    }
  }
}

/**
 * Returns the id of the connection. A check finds a connection to an earlier port, and one whose key no longer works
 * because an earlier start issued new keys and then failed.
 */
async function connect(admin: AdminClient, kind: 'site' | 'vision', baseUrl: string, apiKey: string): Promise<string> {
  const query = { haulerId: DEMO.haulerId, interface: kind, pageSize: '100' };
  // Newest first: the connection of the demo is older than those that others add.
  const existing = (await admin.call('listConnections', { query })).data.at(-1);
  if (existing === undefined) {
    const body = { haulerId: DEMO.haulerId, interface: kind, baseUrl, apiKey };
    return (await admin.call('createConnection', { body })).id;
  }
  const params = { id: existing.id };
  const works = existing.baseUrl === baseUrl && (await admin.call('checkConnection', { params })).authorized;
  if (!works) await admin.call('updateConnection', { params, body: { baseUrl, apiKey } });
  return existing.id;
}

/** Once: a subscription to the truck, and a request for one clip. */
async function subscribe(
  admin: AdminClient,
  connectionId: string,
  clip: Demo['clip'],
  startTime: string,
): Promise<void> {
  const { data } = await admin.call('listVideoSubscriptions', { query: { connectionId } });
  if (data.length > 0) return;
  const truck = { connectionId, truckId: DEMO.truckId };
  await admin.call('createVideoSubscription', { body: { ...truck, startTime, intervalSeconds: 30 } });
  await admin.call('createVideoRequest', { body: { ...truck, cameraId: 'front', ...clip } });
}

/** The service refuses tickets of unknown sites, and the printed example has such a ticket until then. */
async function waitForSites(admin: AdminClient): Promise<void> {
  const query = { haulerId: DEMO.haulerId, siteId: DEMO.siteId };
  for (const end = Date.now() + SYNC_TIMEOUT_MS; Date.now() < end; await delay(SYNC_POLL_MS)) {
    if ((await admin.call('listSites', { query })).data.length > 0) return;
  }
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
