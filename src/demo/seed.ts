import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Readable } from 'node:stream';
import type { ResolvedEnv } from '../core/config/env.js';
import { AdminClient } from '../cli/admin-client.js';
import { acceptStatus, type DemoPartner, timeOf } from './calls.js';
import { DEMO, DEMO_ALIASES, DEMO_CAMERAS, DEMO_SITE_DATA, demoRecording, QUARRY } from './demo-data.js';
import { demoKeys, type DemoKeys } from './demo-keys.js';

const CALL_TIMEOUT_MS = 30_000;
const MINUTE_MS = 60_000;
/** Recorded minutes of each camera. */
const RECORDED_MINUTES = 10;
const SYNC_TIMEOUT_MS = 5_000;
const SYNC_POLL_MS = 50;

export interface DemoConnections {
  readonly site: string;
  readonly vision: string;
}

export interface Demo {
  readonly keys: DemoKeys;
  /** The cameras of the first truck have recorded the ten minutes before this one, counted since the epoch. */
  readonly lastMinute: number;
  /** A range within the recordings that spans two of them. */
  readonly clip: { readonly startTime: string; readonly endTime: string };
  /** Ids of the connections of the platform side; undefined if this instance serves one side only. */
  readonly connections?: DemoConnections;
}

/** What the parts of the demo are made with. */
export interface DemoScene extends Required<Demo> {
  readonly admin: AdminClient;
  readonly partner: DemoPartner;
  readonly baseUrl: string;
  readonly env: ResolvedEnv;
  readonly now: number;
  /** Aborted when the service stops. */
  readonly signal: AbortSignal;
}

/** The demo uses the admin API as an administrator would. */
export const demoClient = (baseUrl: string, token: string): AdminClient =>
  new AdminClient({ url: new URL(baseUrl), token, timeoutMs: CALL_TIMEOUT_MS });

/**
 * Creates the haulers, keys, and a partner's sites, connects the platform side to the partner side of this same process, and waits
 * for the first synchronisation. Another start adds what is missing.
 */
export async function seedDemo(env: ResolvedEnv, baseUrl: string): Promise<Demo> {
  const admin = demoClient(baseUrl, env.ADMIN_TOKEN);
  // Pages of one hauler begin with the newest.
  for (const { haulerId: id, haulerName: name } of [QUARRY, DEMO]) {
    await acceptStatus(409, admin.call('createHauler', { body: { id, name } }));
  }
  const keys = await demoKeys(admin, env.DATA_DIR);
  const lastMinute = Math.floor(Date.now() / MINUTE_MS) - 1;
  const middle = (lastMinute - RECORDED_MINUTES / 2) * MINUTE_MS;
  const demo = {
    keys,
    lastMinute,
    clip: { startTime: timeOf(middle - 10_000), endTime: timeOf(middle + 10_000) },
  };
  if (env.SIDES.has('partner')) await replaceSiteData(admin, DEMO.haulerId, DEMO_SITE_DATA);
  if (!env.SIDES.has('platform') || !env.SIDES.has('partner')) return demo;
  const partner = { haulerId: DEMO.haulerId, baseUrl, apiKey: keys.partner };
  const site = await connect(admin, 'site', partner);
  const vision = await connect(admin, 'vision', partner);
  await waitForSites(admin);
  return { ...demo, connections: { site, vision } };
}

export async function replaceSiteData(admin: AdminClient, haulerId: string, data: object): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(data));
  const upload = { content: Readable.from([bytes]), sizeBytes: bytes.length };
  await admin.call('replaceHostedSiteData', { params: { haulerId }, upload });
}

/** The last minutes of the first truck. */
export async function recordMinutes(admin: AdminClient, lastMinute: number): Promise<void> {
  for (const cameraId of DEMO_CAMERAS) {
    const camera = { customerId: DEMO.haulerId, truckId: DEMO.truckId, cameraId };
    await admin.call('setHostedCamera', { body: { ...camera, aliases: DEMO_ALIASES[cameraId] } });
    const minutes = Array.from({ length: RECORDED_MINUTES }, (_, i) => (lastMinute - RECORDED_MINUTES + i) * MINUTE_MS);
    await Promise.all(
      minutes.map((start) => {
        const query = { ...camera, startTime: timeOf(start), endTime: timeOf(start + MINUTE_MS) };
        return uploadRecording(admin, query, demoRecording(cameraId, new Date(start)));
      }),
    );
  }
}

/** False if the partner side has it already. */
export async function uploadRecording(
  admin: AdminClient,
  query: Readonly<Record<'customerId' | 'truckId' | 'cameraId' | 'startTime' | 'endTime', string>>,
  file: string,
): Promise<boolean> {
  const upload = { content: createReadStream(file), sizeBytes: (await stat(file)).size };
  return acceptStatus(409, admin.call('uploadHostedRecording', { query, upload }));
}

export interface DemoPartnerSide {
  readonly haulerId: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly intervalSeconds?: number;
}

/**
 * Returns the id of the connection. A check finds a connection to an earlier port, and one whose key no longer works
 * because an earlier start issued new keys and then failed.
 */
export async function connect(admin: AdminClient, kind: 'site' | 'vision', partner: DemoPartnerSide): Promise<string> {
  const { haulerId, baseUrl, apiKey } = partner;
  const query = { haulerId, interface: kind, pageSize: '100' };
  // Newest first: the connection of the demo is older than those that others add.
  const existing = (await admin.call('listConnections', { query })).data.at(-1);
  if (existing === undefined) {
    return (await admin.call('createConnection', { body: { ...partner, interface: kind } })).id;
  }
  const params = { id: existing.id };
  const works = existing.baseUrl === baseUrl && (await admin.call('checkConnection', { params })).authorized;
  if (!works) await admin.call('updateConnection', { params, body: { baseUrl, apiKey } });
  return existing.id;
}

/** Once: a subscription to the truck, and a request for one clip. */
export async function subscribe(
  admin: AdminClient,
  connectionId: string,
  clip: Demo['clip'],
  startTime: string,
): Promise<void> {
  const { data } = await admin.call('listVideoSubscriptions', { query: { connectionId } });
  if (data.length > 0) return;
  const truck = { connectionId, truckId: DEMO.truckId };
  await admin.call('createVideoSubscription', { body: { ...truck, startTime, intervalSeconds: 300 } });
  await admin.call('createVideoRequest', { body: { ...truck, cameraId: 'front', ...clip } });
}

/** The service refuses tickets of unknown sites, and the printed example has such a ticket until then. */
async function waitForSites(admin: AdminClient): Promise<void> {
  const query = { haulerId: DEMO.haulerId, siteId: DEMO.siteId };
  for (const end = Date.now() + SYNC_TIMEOUT_MS; Date.now() < end; await delay(SYNC_POLL_MS)) {
    if ((await admin.call('listSites', { query })).data.length > 0) return;
  }
}
